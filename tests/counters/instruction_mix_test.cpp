// Disassemblies in both tools' forms, and the tool as a port.
#include "counters/instruction_mix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone::counters {
namespace {

using ::testing::HasSubstr;

constexpr char nvdisasm_text[] = R"(
	.target	sm_90a
	.elftype	@"ET_EXEC"

//--------------------- .text.row                 --------------------------
	.section	.text.row,"ax",@progbits
	.align	128
row:
.text.row:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   S2R R5, SR_TID.X ;
        /*0020*/                   IMAD.WIDE.U32 R6, R5, 0x4, R2 ;
        /*0030*/              @!P0 LDG.E.128.CONSTANT R8, desc[UR6][R6.64] ;
        /*0040*/                   LDG.E.U16 R21, desc[UR6][R6.64] ;
        /*0050*/                   STL.64 [R1+0x90], R6 ;
        /*0060*/                   LDGDEPBAR ;
        /*0070*/                   FFMA R1, R2, R3, R4 ;
        /*0080*/                   HADD2.BF16_V2 R1, R2, R3 ;
        /*0090*/                   MUFU.RSQ R0, R1 ;
        /*00a0*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*00b0*/                   STS [R0], R1 ;
        /*00c0*/                   UBLKCP.S.G [UR4], [UR8], UR5 ;
        /*00d0*/                   HGMMA.64x64x16.F32.BF16 R24, gdesc[UR4], R24 ;
        /*00e0*/                   STG.E.128 desc[UR6][R6.64], R8 ;
        /*00f0*/                   EXIT ;
.L_x_0:
        /*0100*/                   BRA `(.L_x_0) ;
        /*0110*/                   NOP ;
//--------------------- .text.other               --------------------------
	.section	.text.other,"ax",@progbits
        /*0000*/                   EXIT ;
)";

TEST(Disassembly, OfNvdisasmIsCountedByKernelAndKind) {
  const auto mixes = read_disassembly(nvdisasm_text);
  ASSERT_EQ(mixes.size(), 2U);
  const InstructionMix& row = mixes.at("row");
  EXPECT_EQ(row.total, 17) << "padding is none";
  EXPECT_EQ(row.floating_point, 2);
  EXPECT_EQ(row.special, 1);
  EXPECT_EQ(row.matrix, 1);
  EXPECT_EQ(row.integer, 3);
  EXPECT_EQ(row.global_loads, 2);
  EXPECT_EQ(row.widest_load_bytes, 16);
  EXPECT_EQ(row.narrowest_load_bytes, 2);
  EXPECT_EQ(row.global_stores, 1);
  EXPECT_EQ(row.bulk_copies, 1);
  EXPECT_EQ(row.shared, 1);
  EXPECT_EQ(row.local, 1);
  EXPECT_EQ(row.barriers, 2);
  EXPECT_EQ(row.control, 2);
  EXPECT_EQ(mixes.at("other").total, 1);
  EXPECT_THAT(row.text(), HasSubstr("2 global loads of 2 to 16 bytes"));
}

TEST(Disassembly, OfCuobjdumpWithItsEncodingsGivesTheSame) {
  const auto mixes = read_disassembly(
      "\tcode for sm_90a\n\t\tFunction : row\n\t.headerflags\t@\"EF_CUDA_SM90\"\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;                  /* 0x00000a00ff017b82 */\n"
      "                                                                           /* 0x000e220000000800 */\n"
      "        /*0010*/                   LDG.E R21, desc[UR6][R6.64] ;           /* 0x0000000606157981 */\n"
      "                                                                           /* 0x000ea8000c1e1900 */\n");
  ASSERT_EQ(mixes.size(), 1U);
  EXPECT_EQ(mixes.at("row").total, 2);
  EXPECT_EQ(mixes.at("row").global_loads, 1);
  EXPECT_EQ(mixes.at("row").widest_load_bytes, 4);
  EXPECT_THAT(mixes.at("row").text(), HasSubstr("1 global loads of 4 bytes"));
}

TEST(Disassembly, WhatIsNoneGivesNothing) {
  EXPECT_TRUE(read_disassembly("").empty());
  EXPECT_TRUE(read_disassembly("/*0000*/ LDG R1 ;\n/**/\n/*zz*/ X ;\n.section\n").empty());
}

TEST(Disassembler, IsFoundOnPathFirstThenInTheNewestToolkit) {
  base::ScriptedProcesses processes;
  base::MemoryFiles files;
  EXPECT_FALSE(find_disassembler(processes, files, {}));
  for (const char* path : {"/usr/local/cuda-12.4/bin/cuobjdump", "/usr/local/cuda-13.0/bin/cuobjdump"})
    ASSERT_TRUE(files.write_atomically(path, ""));
  EXPECT_EQ(find_disassembler(processes, files, {})->path, "/usr/local/cuda-13.0/bin/cuobjdump");
  EXPECT_TRUE(find_disassembler(processes, files, {})->cuobjdump);
  ASSERT_TRUE(files.write_atomically("/toolkit/bin/nvdisasm", ""));
  EXPECT_EQ(find_disassembler(processes, files, {{"CUDA_HOME", "/toolkit"}})->path, "/toolkit/bin/nvdisasm");
  processes.programs["nvdisasm"] = "/bin/nvdisasm";
  EXPECT_EQ(find_disassembler(processes, files, {})->path, "/bin/nvdisasm");
}

TEST(Disassembler, IsGivenTheBinaryAsAFileThatGoesAgain) {
  base::ScriptedProcesses processes;
  base::MemoryFiles files;
  base::Outcome outcome;
  outcome.output = nvdisasm_text;
  processes.answers.emplace_back(outcome);
  const auto mixes = instruction_mix({"/bin/nvdisasm", false}, "a binary", "/tmp/a.cubin", processes, files);
  ASSERT_TRUE(mixes) << base::describe(mixes.error());
  EXPECT_TRUE(mixes->count("row"));
  EXPECT_THAT(processes.commands.at(0).arguments, ::testing::ElementsAre("/bin/nvdisasm", "-c", "/tmp/a.cubin"));
  EXPECT_TRUE(files.files().empty());
}

TEST(Disassembler, ThatRefusesIsAnErrorWithItsWords) {
  base::ScriptedProcesses processes;
  base::MemoryFiles files;
  base::Outcome outcome;
  outcome.exit_status = 255;
  outcome.error = "nvdisasm fatal   : Unknown architecture";
  processes.answers.emplace_back(outcome);
  const auto mixes = instruction_mix({"/bin/nvdisasm", false}, "a binary", "/tmp/a.cubin", processes, files);
  ASSERT_FALSE(mixes);
  EXPECT_THAT(mixes.error().found, HasSubstr("Unknown architecture"));
  EXPECT_THAT(mixes.error().remedy, HasSubstr("as new as the compiler"));
}

}  // namespace
}  // namespace hone::counters
