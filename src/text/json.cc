// The one C++ file: simdjson's document reader behind the C interface of json.h.
//
// A Json is a simdjson dom::element in other clothes (a document and a place on its tape), so
// that walking costs nothing. Documents are parsed with one parser a thread and own their tape
// and strings. Compiled without exceptions: every simdjson result is looked at.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <simdjson.h>

extern "C" {
#include "base/limits.h"
#include "text/json.h"
#include "text/json_scan.h"
}

using simdjson::dom::element;
using simdjson::dom::element_type;

struct JsonDoc {
    simdjson::dom::document tape;
    element root;
};

static_assert(sizeof(element) == sizeof(Json), "an element is two words");
static_assert(std::is_trivially_copyable<element>::value, "an element can be copied as bytes");
static_assert(sizeof(simdjson::dom::array::iterator) == sizeof(Json), "so are iterators");
static_assert(sizeof(simdjson::dom::object::iterator) == sizeof(Json), "so are iterators");

template <class T> static Json pack(const T &from)
{
    Json v;
    memcpy(static_cast<void *>(&v), static_cast<const void *>(&from), sizeof v);
    return v;
}

template <class T> static T unpack(Json v)
{
    T to;
    memcpy(static_cast<void *>(&to), static_cast<const void *>(&v), sizeof v);
    return to;
}

/* The library's own allocations end the process as ours do, and say why. */
static const std::new_handler no_memory = std::set_new_handler([] { out_of_memory(0); });

static bool refuse(Str text, const char *reader_says, Err *err)
{
    JsonFault f = json_locate(text);

    if (f.why)
        return err_set(err, ERR_INVALID, "line %zu, column %zu: %s", f.line, f.column, f.why);
    return err_set(err, ERR_INVALID, "not JSON: %s", reader_says);
}

extern "C" {

const char *json_reader_version(void)
{
#define TEXT_OF(x)      #x
#define VERSION_TEXT(x) TEXT_OF(x)
    return VERSION_TEXT(SIMDJSON_VERSION);
}

JsonDoc *json_parse(Str text, Err *err)
{
    static thread_local simdjson::dom::parser parser(LIMIT_JSON_BYTES);
    simdjson::error_code code;
    JsonDoc *doc;

    if (text.n > LIMIT_JSON_BYTES) {
        (void)err_set(err, ERR_TOO_LARGE, "JSON of %zu bytes is larger than %zu", text.n,
                      (size_t)LIMIT_JSON_BYTES);
        return nullptr;
    }
    if (parser.max_depth() != LIMIT_JSON_DEPTH || parser.capacity() < text.n)
        if ((code = parser.allocate(text.n > 4096 ? text.n : 4096, LIMIT_JSON_DEPTH))) {
            (void)err_set(err, ERR_INTERNAL, "JSON reader: %s", simdjson::error_message(code));
            return nullptr;
        }
    doc = new (std::nothrow) JsonDoc;
    if (!doc) {
        (void)err_set(err, ERR_INTERNAL, "out of memory");
        return nullptr;
    }
    code = parser.parse_into_document(doc->tape, text.p ? text.p : "", text.n, true).get(doc->root);
    if (code) {
        (void)refuse(text, simdjson::error_message(code), err);
        delete doc;
        return nullptr;
    }
    return doc;
}

JsonDoc *json_free(JsonDoc *doc)
{
    delete doc;
    return nullptr;
}

Json json_root(const JsonDoc *doc)
{
    return pack(doc->root);
}

JsonType json_type(Json v)
{
    if (!v.doc)
        return JSON_NONE;
    switch (unpack<element>(v).type()) {
    case element_type::NULL_VALUE:
        return JSON_NULL;
    case element_type::BOOL:
        return JSON_BOOL;
    case element_type::INT64:
        return JSON_INT;
    case element_type::UINT64:
    case element_type::DOUBLE:
        return JSON_REAL;
    case element_type::STRING:
        return JSON_STRING;
    case element_type::ARRAY:
        return JSON_ARRAY;
    case element_type::OBJECT:
        return JSON_OBJECT;
    }
    return JSON_NONE;
}

Json json_get(Json object, Str key)
{
    JsonIter it = json_each(object);
    Json item, found = { nullptr, 0 };
    Str name;

    if (!it.is_object)
        return found;
    while (json_next(&it, &name, &item))
        if (str_eq(name, key))
            found = item;
    return found;
}

Json json_at(Json array, size_t i)
{
    simdjson::dom::array items;
    element item;

    if (!array.doc || unpack<element>(array).get(items) || items.at(i).get(item))
        return Json{ nullptr, 0 };
    return pack(item);
}

size_t json_count(Json v)
{
    simdjson::dom::array array;
    simdjson::dom::object object;

    if (!v.doc)
        return 0;
    if (!unpack<element>(v).get(array))
        return array.size();
    return unpack<element>(v).get(object) ? 0 : object.size();
}

Str json_str(Json v)
{
    std::string_view s;

    if (!v.doc || unpack<element>(v).get(s))
        return STR_NONE;
    return Str{ s.data(), s.size() };
}

bool json_bool(Json v, bool *ret)
{
    bool b;

    if (!v.doc || unpack<element>(v).get(b))
        return false;
    *ret = b;
    return true;
}

bool json_int(Json v, int64_t *ret)
{
    int64_t n;
    double real;

    if (!v.doc)
        return false;
    if (!unpack<element>(v).get(n)) {
        *ret = n;
        return true;
    }
    if (unpack<element>(v).get(real) || !(real > -9.2e18 && real < 9.2e18) ||
        (double)(int64_t)real != real)
        return false;
    *ret = (int64_t)real;
    return true;
}

bool json_uint(Json v, uint64_t *ret)
{
    uint64_t n;

    if (!v.doc || unpack<element>(v).get(n))
        return false;
    *ret = n;
    return true;
}

bool json_double(Json v, double *ret)
{
    double real;

    if (!v.doc || unpack<element>(v).get(real))
        return false;
    *ret = real;
    return true;
}

JsonIter json_each(Json v)
{
    simdjson::dom::array array;
    simdjson::dom::object object;
    JsonIter it = {};

    if (!v.doc)
        return it;
    if (!unpack<element>(v).get(array)) {
        it.next = pack(array.begin());
        it.end = pack(array.end());
    } else if (!unpack<element>(v).get(object)) {
        it.next = pack(object.begin());
        it.end = pack(object.end());
        it.is_object = true;
    }
    return it;
}

bool json_next(JsonIter *it, Str *ret_key, Json *ret_item)
{
    if (it->next.doc == it->end.doc && it->next.at == it->end.at)
        return false;
    if (it->is_object) {
        auto at = unpack<simdjson::dom::object::iterator>(it->next);
        std::string_view key = at.key();

        *ret_key = Str{ key.data(), key.size() };
        *ret_item = pack(at.value());
        it->next = pack(++at);
    } else {
        auto at = unpack<simdjson::dom::array::iterator>(it->next);

        *ret_key = STR_NONE;
        *ret_item = pack(*at);
        it->next = pack(++at);
    }
    return true;
}

/* -- json_scan.h: the first stage alone -- */

using Stage = std::unique_ptr<simdjson::internal::dom_parser_implementation>;

void *json_stage_new(size_t max)
{
    Stage made;

    if (simdjson::get_active_implementation()->create_dom_parser_implementation(max, 16, made))
        out_of_memory(max); /* it fails for nothing else */
    return made.release();
}

void *json_stage_free(void *stage)
{
    delete static_cast<Stage::element_type *>(stage);
    return nullptr;
}

ScanResult json_stage_run(void *stage, Str text, const uint32_t **ret_at, uint32_t *ret_n)
{
    Stage::pointer run = static_cast<Stage::pointer>(stage);
    simdjson::error_code code = run->stage1(reinterpret_cast<const uint8_t *>(text.p), text.n,
                                            simdjson::stage1_mode::regular);

    if (code == simdjson::UTF8_ERROR)
        return SCAN_NOT_UTF8;
    if (code)
        return SCAN_BROKEN;
    *ret_at = run->structural_indexes.get();
    *ret_n = run->n_structural_indexes;
    return SCAN_OK;
}

} // extern "C"
