// What the SVG picture and the page share: colours and sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "domain_picture/cells.h"
#include "groma/domain_picture.h"

namespace groma::domains {

// Returns the colour of a processor as "#2f6db5". Processors with neighbouring numbers differ
// clearly. The colours stand out from light and from dark backgrounds.
std::string processor_color(std::int64_t processor);
// Returns true if black text on the colour of the processor is easier to read than white text.
bool has_dark_text(std::int64_t processor);

// Returns "triangle:n=8: 36 points in a box of 8 x 8, which has 1.778 times as many".
std::string size_words(const Domain& domain, std::string_view title);
// Returns what was left out or drawn coarser; empty if all points are drawn.
std::string coarseness_words(const Domain& domain, const PictureCells& picture);
// Returns "0 to 4 points, imbalance 1.778, 6 processors without any" for the shares.
std::string share_words(const std::vector<std::int64_t>& shares);
// Returns "4 x 4".
std::string extents_words(const Point& extents);

// Returns the SVG element of a domain with 1 or 2 dimensions.
std::string svg_element(const Domain& domain, const PictureOptions& options,
                        const PointShares& shares);
// Returns the SVG element with a pair of bars for each processor.
std::string bars_element(const PointShares& shares);

// Return the style sheet and the script of a page, without their tags. The script draws the cells
// in the JSON of the element `domain`:
// * `extents`: the extents of the picture in cells; `side`: the side of a cell in points;
// * `lower`: the first coordinates of the box, as text;
// * `cells`: six numbers for each cell, in the order of the first points in them: its place in
// three
//   dimensions, the number of its first point, and its processor by rank and by block;
// * `colors`: the colours of the processors.
std::string_view domain_page_style();
std::string_view domain_page_script();

}  // namespace groma::domains
