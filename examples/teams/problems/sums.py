"""Word problems of several steps, and unit conversions."""

from fractions import Fraction

from teams.task import Step, Task, arithmetic, number_check, show


def _task(
    name: str, family: str, question: str, givens: dict[str, str], *steps: Step, expected: str
) -> Task:
    last = steps[-1].key
    return Task(
        name=name,
        family=family,
        question=question.format_map(givens),
        givens={key: Fraction(value) for key, value in givens.items()},
        steps=steps,
        answer=lambda values: show(values[last]),
        check=number_check(expected),
    )


BAKERY = _task(
    "bakery-takings",
    "arithmetic",
    "A bakery sells {loaves} loaves at {loaf_price} euros each and {rolls} rolls at "
    "{roll_price} euros each. Flour costs {flour} euros and wages cost {wages} euros. "
    "How many euros of profit are left?",
    {
        "loaves": "36",
        "loaf_price": "4",
        "rolls": "58",
        "roll_price": "2",
        "flour": "75",
        "wages": "90",
    },
    arithmetic(
        "loaf_money",
        "Work out what the loaves bring in",
        "{loaves} * {loaf_price}",
        "The loaves bring in {working} = {result} euros.",
        ("uses the price of a roll", "{loaves} * {roll_price}"),
        group="Income",
        writes=("ledger",),
    ),
    arithmetic(
        "roll_money",
        "Work out what the rolls bring in",
        "{rolls} * {roll_price}",
        "The rolls bring in {working} = {result} euros.",
        ("adds the price instead of multiplying", "{rolls} + {roll_price}"),
        group="Income",
        writes=("ledger",),
    ),
    arithmetic(
        "takings",
        "Add up the takings",
        "{loaf_money} + {roll_money}",
        "Together that is {working} = {result} euros of takings.",
        ("counts the loaves twice", "{loaf_money} + {loaf_money}"),
        group="Income",
    ),
    arithmetic(
        "profit",
        "Take the costs off the takings",
        "{takings} - {flour} - {wages}",
        "After {flour} euros for flour and {wages} euros for wages, {result} euros are left.",
        ("forgets the wages", "{takings} - {flour}"),
        ("adds the wages", "{takings} - {flour} + {wages}"),
        group="Result",
    ),
    expected="95",
)

BARREL = _task(
    "rain-barrel",
    "arithmetic",
    "A rain barrel holds {size} litres and has {start} litres in it. It rains for {hours} "
    "hours and the gutter brings {rate} litres an hour. Then the garden takes {garden} "
    "litres. How many litres are free in the barrel?",
    {"size": "240", "start": "66", "hours": "5", "rate": "18", "garden": "47"},
    arithmetic(
        "inflow",
        "Work out how much rain runs in",
        "{rate} * {hours}",
        "{hours} hours of rain bring {working} = {result} litres.",
        ("takes one hour too few", "{rate} * ({hours} - 1)"),
    ),
    arithmetic(
        "level",
        "Work out how much stands in the barrel after the watering",
        "{start} + {inflow} - {garden}",
        "After the watering, {working} = {result} litres stand in the barrel.",
        ("forgets what was in the barrel", "{inflow} - {garden}"),
        ("adds the garden's water", "{start} + {inflow} + {garden}"),
        difficulty=1.3,
    ),
    arithmetic(
        "free",
        "Compare with what the barrel holds",
        "{size} - {level}",
        "So {working} = {result} litres are free.",
        ("answers with the level", "{level}"),
        group="Result",
    ),
    expected="131",
)

FENCE = _task(
    "fence-posts",
    "arithmetic",
    "A field is {length} metres long and {width} metres wide. A fence goes all around it, "
    "with a post every {gap} metres at {post_price} euros each, and {strands} strands of wire "
    "at {wire_price} euros a metre. What does the fence cost in euros?",
    {
        "length": "84",
        "width": "60",
        "gap": "6",
        "post_price": "13",
        "strands": "2",
        "wire_price": "3",
    },
    arithmetic(
        "around",
        "Work out the way around the field",
        "2 * ({length} + {width})",
        "The way around the field is {working} = {result} metres.",
        ("adds only two sides", "{length} + {width}"),
        group="Measure",
    ),
    arithmetic(
        "posts",
        "Count the posts",
        "ceil({around} / {gap})",
        "That needs {result} posts, one every {gap} metres.",
        ("counts one post too many, as on an open line", "ceil({around} / {gap}) + 1"),
        group="Measure",
        difficulty=1.6,
    ),
    arithmetic(
        "post_cost",
        "Price the posts",
        "{posts} * {post_price}",
        "The posts cost {working} = {result} euros.",
        ("uses the price of wire", "{posts} * {wire_price}"),
        group="Price",
        writes=("estimate",),
    ),
    arithmetic(
        "wire_cost",
        "Price the wire",
        "{around} * {strands} * {wire_price}",
        "The wire costs {working} = {result} euros.",
        ("forgets the second strand", "{around} * {wire_price}"),
        group="Price",
        writes=("estimate",),
    ),
    arithmetic(
        "cost",
        "Add posts and wire",
        "{post_cost} + {wire_cost}",
        "The whole fence costs {working} = {result} euros.",
        ("leaves the wire out", "{post_cost}"),
        group="Price",
    ),
    expected="2352",
)

TRIP = _task(
    "school-trip",
    "arithmetic",
    "{pupils} pupils and {teachers} teachers go to a museum. A bus seats {seats} people and "
    "costs {bus_price} euros; a ticket costs {ticket} euros for each person. What does the "
    "trip cost in euros?",
    {"pupils": "147", "teachers": "11", "seats": "52", "bus_price": "380", "ticket": "6"},
    arithmetic(
        "people",
        "Count the people",
        "{pupils} + {teachers}",
        "{working} = {result} people travel.",
        ("forgets the teachers", "{pupils}"),
        group="Count",
    ),
    arithmetic(
        "buses",
        "Count the buses",
        "ceil({people} / {seats})",
        "{people} people need {result} buses of {seats} seats.",
        ("rounds the buses down", "floor({people} / {seats})"),
        group="Count",
        difficulty=1.6,
    ),
    arithmetic(
        "bus_cost",
        "Price the buses",
        "{buses} * {bus_price}",
        "The buses cost {working} = {result} euros.",
        ("prices one bus less", "({buses} - 1) * {bus_price}"),
        group="Price",
        writes=("estimate",),
    ),
    arithmetic(
        "ticket_cost",
        "Price the tickets",
        "{people} * {ticket}",
        "The tickets cost {working} = {result} euros.",
        ("lets the teachers in for nothing", "{pupils} * {ticket}"),
        group="Price",
        writes=("estimate",),
    ),
    arithmetic(
        "cost",
        "Add buses and tickets",
        "{bus_cost} + {ticket_cost}",
        "The trip costs {working} = {result} euros.",
        ("leaves the tickets out", "{bus_cost}"),
        group="Price",
    ),
    expected="2468",
)

RECIPE = _task(
    "flour-bags",
    "conversion",
    "A recipe for {serves} people takes {cups} cups of flour. A cup of flour weighs {cup} "
    "grams and a bag holds {bag} grams. How many bags are needed for {guests} people?",
    {"serves": "4", "cups": "3", "cup": "120", "bag": "500", "guests": "14"},
    arithmetic(
        "needed",
        "Scale the recipe",
        "{cups} * {guests} / {serves}",
        "{guests} people need {working} = {result} cups.",
        ("scales the wrong way round", "{cups} * {serves} / {guests}"),
        difficulty=1.3,
    ),
    arithmetic(
        "grams",
        "Turn cups into grams",
        "{needed} * {cup}",
        "{needed} cups weigh {working} = {result} grams.",
        ("takes 100 grams for a cup", "{needed} * 100"),
    ),
    arithmetic(
        "bags",
        "Count the bags",
        "ceil({grams} / {bag})",
        "{grams} grams fill {result} bags of {bag} grams, the last one perhaps in part.",
        ("rounds the bags down", "floor({grams} / {bag})"),
        group="Result",
        difficulty=1.3,
    ),
    expected="3",
)

PACE = _task(
    "runner-pace",
    "conversion",
    "A runner needs {minutes} minutes for {miles} miles. A mile is {factor} kilometres. How "
    "many minutes does she need for {goal} metres at the same pace?",
    {"minutes": "80", "miles": "10", "factor": "1.6", "goal": "5000"},
    arithmetic(
        "kilometres",
        "Turn miles into kilometres",
        "{miles} * {factor}",
        "{miles} miles are {working} = {result} kilometres.",
        ("divides by the factor", "{miles} / {factor}"),
    ),
    arithmetic(
        "speed",
        "Work out the metres a minute",
        "{kilometres} * 1000 / {minutes}",
        "She runs {working} = {result} metres a minute.",
        ("takes 100 metres for a kilometre", "{kilometres} * 100 / {minutes}"),
        difficulty=1.3,
    ),
    arithmetic(
        "time",
        "Work out the time for the goal",
        "{goal} / {speed}",
        "{goal} metres take {working} = {result} minutes.",
        ("leaves the pace out and halves the time", "{minutes} / 2"),
        group="Result",
    ),
    expected="25",
)

FUEL = _task(
    "fuel-bill",
    "conversion",
    "A car uses {use} litres on 100 kilometres. The trip is {miles} miles, and a mile is "
    "{factor} kilometres. A litre costs {price} euros and a euro is {rate} dollars. What does "
    "the fuel cost in dollars?",
    {"use": "6.5", "miles": "320", "factor": "1.6", "price": "1.75", "rate": "1.25"},
    arithmetic(
        "kilometres",
        "Turn miles into kilometres",
        "{miles} * {factor}",
        "{miles} miles are {working} = {result} kilometres.",
        ("takes miles for kilometres", "{miles}"),
        group="Convert",
    ),
    arithmetic(
        "litres",
        "Work out the litres",
        "{kilometres} * {use} / 100",
        "The car burns {working} = {result} litres.",
        ("forgets the hundred", "{kilometres} * {use} / 10"),
        group="Convert",
    ),
    arithmetic(
        "euros",
        "Price the fuel in euros",
        "{litres} * {price}",
        "That costs {working} = {result} euros.",
        ("takes 2 euros a litre", "{litres} * 2"),
        group="Price",
    ),
    arithmetic(
        "dollars",
        "Turn euros into dollars",
        "{euros} * {rate}",
        "In dollars that is {working} = {result}.",
        ("divides by the rate", "{euros} / {rate}"),
        group="Price",
        difficulty=1.3,
    ),
    expected="72.8",
)

TASKS = (BAKERY, BARREL, FENCE, TRIP, RECIPE, PACE, FUEL)
