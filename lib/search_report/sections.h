// The sections of the HTML page of a search. Each function appends HTML in which all foreign texts
// are escaped.
#pragma once

#include <string>
#include <string_view>

#include "groma/search_report.h"

namespace groma::tuning {

// Appends the chart of all results, with the best so far as a line, and the data for the script.
void add_chart(const SearchReport& report, std::string* html);

// Appends the family tree of the steps and the line of the best. Appends nothing if the search
// recorded no parents.
void add_lineage(const SearchReport& report, std::string* html);

// Appends the list of the steps that are shown in full. Each can be opened.
void add_steps(const SearchReport& report, std::string* html);

// Appends the selectors that show two mappings side by side, and the texts for the script.
void add_comparison(const SearchReport& report, std::string* html);

// Appends the lines of `after`, with the lines that differ from `before` marked. Long runs of equal
// lines are left out unless `whole`. With a `prefix`, lines of `after` get ids: the prefix and
// their number.
void add_difference(std::string_view before, std::string_view after, bool whole,
                    std::string_view prefix, std::string* html);

// Return the style sheet and the script of the page, without their tags. The script reads the JSON
// in the elements `chart-data` and `texts`.
std::string_view search_page_style();
std::string_view search_page_script();
// Those of the family tree. The script reads the JSON in the element `tree-data`.
std::string_view lineage_style();
std::string_view lineage_script();

}  // namespace groma::tuning
