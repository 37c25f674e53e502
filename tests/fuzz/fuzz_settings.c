/* Any bytes as config.yaml: every value that comes out is one that the table allows. */
#include "text/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(Arena) *a = arena_new();
    Settings s;
    Err err;

    settings_defaults(&s);
    if (!settings_parse(a, (Str){ (const char *)data, size }, &s, &err)) {
        ASSERT(err.text[0]);
        return 0;
    }
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (setting_infos[i].kind == SETTING_INT)
            ASSERT(setting_int(&s, (SettingId)i) >= 0);
    return 0;
}
