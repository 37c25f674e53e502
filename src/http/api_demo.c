/* What the page shows of the demo: whether it is in use, and the checklist. */
#include "demo/checklist.h"
#include "demo/demo.h"
#include "http/routes.h"

bool route_demo(Request *rq, Err *err)
{
    JsonWriter w = reply_json(rq);

    (void)err;
    json_field_bool(&w, "demo", demo_entered());
    if (demo_entered()) {
        json_field_str(&w, "title", STR(DEMO_CHECKLIST_TITLE));
        demo_checklist_put(&w);
    }
    return reply_end(&w);
}
