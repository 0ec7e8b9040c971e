C
#define FAST 0
#define GLOBAL __global__
#define BOUNDED(threads, name, ...) GLOBAL __launch_bounds__(threads) void name##_kernel(__VA_ARGS__)
#if FAST || (defined(GLOBAL) && !FAST == 1)
BOUNDED(128, first, float* x, int n) { x[n] = 1; }
#elif 1
GLOBAL void second(float* x) { x[0] = 1; }
#else
const char* text = R"a(#endif)a";
#endif
#undef FAST
