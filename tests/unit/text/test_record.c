/* One table reads and writes a struct: every kind of member, fallbacks, and refusals that name the
 * key. */
#include "unit.h"

#include "base/limits.h"
#include "text/record.h"

typedef enum Colour { RED, GREEN } Colour;
static const char *const colours[] = { "red", "green" };
static const char *const used[] = { "new", "used" };

typedef struct Wheel {
    Str name;
    int32_t size;
} Wheel;

typedef struct Car {
    Str id, title, note, origin, extra;
    StrList tags;
    int64_t km;
    size_t seats;
    uint32_t mode;
    double price, tax;
    bool sold, used;
    DoubleList range;
    Colour colour;
    Wheel steering;
    Wheel spare;
    Wheel *towed;
    LIST_OF(Wheel) wheels;
} Car;

static const RecordField wheel_fields[] = {
    RECORD_FIELD(Wheel, name, .required = true),
    RECORD_FIELD(Wheel, size, .fallback = "17"),
};
static const RecordTable wheel_record = RECORD(Wheel, "wheel", wheel_fields);
static const RecordField steering_fields[] = { RECORD_FIELD(Wheel, size, .key = "steering_size") };
static const RecordTable steering_record = RECORD(Wheel, "steering wheel", steering_fields);

static const RecordField car_fields[] = {
    RECORD_FIELD(Car, id, .required = true),
    RECORD_FIELD(Car, title, .when_empty = RECORD_NULL),
    RECORD_FIELD(Car, note, .when_empty = RECORD_OMIT),
    RECORD_FIELD(Car, origin, .key = "from", .fallback = "here", .when_empty = RECORD_NULL_STR),
    RECORD_FIELD(Car, extra, .is_json = true, .fallback = "{}"),
    RECORD_FIELD(Car, tags),
    RECORD_FIELD(Car, km, .fallback = "-1", .when_empty = RECORD_NULL_NEGATIVE),
    RECORD_FIELD(Car, seats, .fallback = "4"),
    RECORD_FIELD(Car, mode),
    RECORD_FIELD(Car, price, .fallback = "0.5"),
    RECORD_FIELD(Car, tax, .fallback = "-1", .when_empty = RECORD_NULL_NEGATIVE),
    RECORD_FIELD(Car, sold, .fallback = "true"),
    RECORD_FIELD(Car, used, .key = "state", .words = used, .n_words = ARRAY_LEN(used)),
    RECORD_FIELD(Car, range, .when_empty = RECORD_NULL),
    RECORD_EMBED(Car, steering, &steering_record),
    RECORD_ENUM(Car, colour, colours, .fallback = "green"),
    RECORD_NESTED(Car, spare, &wheel_record),
    RECORD_FIELD(Car, spare.size, .key = "spare_size"),
    RECORD_OPTIONAL(Car, towed, &wheel_record),
    RECORD_LIST(Car, wheels, &wheel_record),
};
static const RecordTable car_record = RECORD(Car, "car", car_fields);
static const RecordTable lenient_record = RECORD(Car, "car", car_fields, .lenient = true);

static Str written(Arena *a, const Car *car)
{
    AUTO_BUF out = BUF(MIB(1));
    JsonWriter w = JSON_WRITER(&out, 0);

    record_put(&w, &car_record, car);
    return str_dup(a, buf_str(&out));
}

static const struct {
    const char *json, *out; /* out NULL: the same */
} cars[] = {
    { "{\"id\": \"a\", \"title\": \"T\", \"note\": \"n\", \"from\": \"there\", \"extra\": [1, "
      "null], \"tags\": [\"x\", \"y\"], \"km\": 7, \"seats\": 2, \"mode\": 4294967295, \"price\": "
      "1.25, \"tax\": 0.0, \"sold\": false, \"state\": \"used\", \"range\": [0.5, 1.5], "
      "\"steering_size\": 3, \"colour\": \"red\", \"spare\": {\"name\": \"s\", "
      "\"size\": -5}, \"spare_size\": -5, \"towed\": {\"name\": \"t\", \"size\": 1}, \"wheels\": "
      "[{\"name\": \"w\", \"size\": 2}, {\"name\": \"v\", \"size\": 3}]}",
      NULL },
    { "{\"id\": \"b\", \"unknown\": 1, \"tags\": null, \"wheels\": [{\"name\": \"w\"}]}",
      "{\"id\": \"b\", \"title\": null, \"from\": \"here\", \"extra\": {}, \"tags\": [], \"km\": "
      "null, \"seats\": 4, \"mode\": 0, \"price\": 0.5, \"tax\": null, \"sold\": true, \"state\": "
      "\"new\", \"range\": null, \"steering_size\": 0, \"colour\": "
      "\"green\", \"spare\": {\"name\": \"\", \"size\": 17}, \"spare_size\": 17, \"towed\": null, "
      "\"wheels\": [{\"name\": \"w\", \"size\": 17}]}" },
};

static void cars_round_trip(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cars); i++) {
        Err err = { 0 };
        AUTO(JsonDoc) *doc = json_parse(str_of(cars[i].json), &err);
        AUTO_BUF packed = BUF(MIB(1));
        Car car, back;

        assert_true(record_read(a, &car_record, json_root(doc), &car, &err));
        assert_str(written(a, &car), str_of(cars[i].out ? cars[i].out : cars[i].json));
        record_pack(&packed, &car_record, &car);
        assert_true(record_unpack(a, &car_record, buf_str(&packed), &back));
        assert_str(written(a, &back), written(a, &car));
        for (size_t n = 0; n < packed.n; n++)
            assert_false(record_unpack(a, &car_record, str_head(buf_str(&packed), n), &back));
    }
}

static const struct {
    const char *json, *error;
} refused[] = {
    { "{}", "car without 'id'" },
    { "[]", "a car is an array, not an object" },
    { "{\"id\": \"a\", \"from\": 1}", "'from' of a car is a number" },
    { "{\"id\": \"a\", \"tags\": [1]}", "'tags' of a car is an array" },
    { "{\"id\": \"a\", \"mode\": -1}", "'mode' of a car is a number" },
    { "{\"id\": \"a\", \"colour\": \"blue\"}", "'colour' of a car is a string" },
    { "{\"id\": \"a\", \"towed\": {}}", "'towed': wheel without 'name'" },
    { "{\"id\": \"a\", \"wheels\": {}}", "'wheels': wheels are an object, not an array" },
    { "{\"id\": \"a\", \"wheels\": [{\"name\": \"w\", \"size\": 3000000000}]}",
      "'wheels': wheel 1: 'size' of a wheel is a number" },
};

static void refusals_name_the_key(void **state)
{
    AUTO(Arena) *a = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        Err err = { 0 };
        AUTO(JsonDoc) *doc = json_parse(str_of(refused[i].json), &err);
        Car car = { .km = 42 };

        assert_false(record_read(a, &car_record, json_root(doc), &car, &err));
        assert_string_equal(err.text, refused[i].error);
        assert_int_equal(car.km, 42);
        /* What a strict table refuses for its type, a lenient one leaves out. */
        assert_int_equal(record_read(a, &lenient_record, json_root(doc), &car, &err), i > 1);
        if (i > 1)
            assert_str(written(a, &car),
                       STR("{\"id\": \"a\", \"title\": null, \"from\": \"here\", \"extra\": {}, "
                           "\"tags\": [], \"km\": null, \"seats\": 4, \"mode\": 0, \"price\": 0.5, "
                           "\"tax\": null, \"sold\": true, \"state\": \"new\", \"range\": null, "
                           "\"steering_size\": 0, \"colour\": \"green\", \"spare\": "
                           "{\"name\": \"\", \"size\": 17}, \"spare_size\": 17, \"towed\": null, "
                           "\"wheels\": []}"));
    }
}

int main(void)
{
    const struct CMUnitTest tests_[] = {
        cmocka_unit_test(cars_round_trip),
        cmocka_unit_test(refusals_name_the_key),
    };

    return cmocka_run_group_tests(tests_, NULL, NULL);
}
