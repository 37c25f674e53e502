/* What strangers type in chats: is it a command, is it a code, are they on the list. The first byte
 * says where. */
#include "chat/people.h"
#include "gateway/authorise.h"
#include "gateway/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const platforms[] = { "local", "telegram", "discord", "slack" };
    AUTO(Arena) *a = arena_new();
    Str text = size ? (Str){ (const char *)data + 1, size - 1 } : STR("");
    Inbound in = { .place = { .platform = str_of(platforms[size ? data[0] % 4 : 0]) },
                   .text = text };
    Identity me = { .id = STR("1"), .name = STR("ourbot") };
    ChatWords w;

    if (chat_words(&in, &me, &w)) {
        ASSERT(w.name.n > 0 && w.name.n <= text.n && w.rest.n < text.n);
        ASSERT(w.command >= -1 && w.command < CHAT_COMMAND_COUNT);
    }
    ASSERT(code_tidy(a, text).n == 0 || code_tidy(a, text).n == CODE_CHARS);
    (void)is_listed(text, me.id);
    return 0;
}
