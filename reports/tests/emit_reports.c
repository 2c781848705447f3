/* SPDX-License-Identifier: MIT
 *
 * Prints every JSON report of the fixture and one outcome per error code, one document after the other with a
 * NUL between them, for the schema check.
 */
#include "reports/tests/fixture.h"

#include <unistd.h>

static bool emit(struct zsb_buf *text, int rc)
{
    return rc == 0 && zsb_write_all(STDOUT_FILENO, text->data, text->size_bytes + 1) == 0;
}

int main(void)
{
    const struct fixture_report *report;
    for (size_t i = 0; (report = fixture_report_at(i)); i++) {
        ZSB_AUTO_BUF text = ZSB_BUF_INIT;
        if (report->json && !emit(&text, report->write(&text, NULL)))
            return EXIT_FAILURE;
    }
    for (unsigned code = 0; code < ZSB_E_COUNT; code++) {
        ZSB_AUTO_BUF text = ZSB_BUF_INIT;
        if (!emit(&text, fixture_write_outcome_of((enum zsb_code)code, &text, NULL)))
            return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
