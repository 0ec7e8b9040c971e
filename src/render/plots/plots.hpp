// The plots of a report as SVG. PNG is made from these by whoever writes files.
#pragma once

#include <string>
#include <vector>

#include "model/report.hpp"

namespace hone::render {

struct Plot {
  std::string file_name;  // "speed_forward.svg"
  std::string title;
  std::string svg;
};

// Every plot the report has values for, in this order: speed of each pass, memory, share of ceiling, sweep of each pass, then
// those of the baseline profile (roofline, stalls of each captured kernel).
std::vector<Plot> report_plots(const model::Report& report);

// Time of one pass by size, one series for each provider, with p20 to p80.
std::string speed_plot(const model::Report& report, const std::string& mode);
std::string memory_plot(const model::Report& report);
// Share of the ceiling before and after, for each pass; 100 % is the roofline bound: minimum traffic at the measured ceilings.
std::string share_of_ceiling_plot(const model::Report& report);
// One cell for each setting (rows, best first) and size (columns): time over v0's. At most 30 rows, the rest is counted.
std::string sweep_plot(const model::ComparisonDocument& comparison, const std::string& x_name, const std::string& pass);

}  // namespace hone::render
