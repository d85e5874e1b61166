// planPage: see plan_page.h. The texts of the page are the files of this folder, embedded by the build.
#include "ir/draw/page/plan_page.h"

#include <string_view>

namespace dfc {
namespace page {

extern const std::string_view shellText, styleText, modelText, wordsText, timelineText, timelineDrawingText,
    timelineInputText, graphText, tablesText, explanationText, detailsText, mainText;

} // namespace page

namespace {

void replace(std::string& text, std::string_view mark, std::string_view by) {
  const size_t at = text.find(mark);
  DFC_ASSERT(at != std::string::npos, "the page has a place for every part");
  text.replace(at, mark.size(), by);
}

} // namespace

std::string planPage(const PageContents& contents) {
  std::string scripts;
  for (const std::string_view script :
       {page::wordsText, page::modelText, page::timelineText, page::timelineDrawingText,
        page::timelineInputText, page::graphText, page::tablesText, page::explanationText, page::detailsText,
        page::mainText}) {
    scripts += script;
  }
  std::string text(page::shellText);
  replace(text, "@STYLE@", page::styleText);
  replace(text, "@SCRIPT@", scripts);
  replace(text, "@DATA@", pageData(contents)); // the last: its names may hold marks
  return text;
}

} // namespace dfc
