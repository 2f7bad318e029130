# SPDX-License-Identifier: Apache-2.0
"""Short fables from a grammar: the training text of this example.

Each story has a hero, a friend, a home and a plot of several sentences. What the grammar draws once (an animal, a
name, a colour, a place) returns later in the story, so a model has to look back for it.

    rng = random.Random(1)
    print(story(rng))
"""

ANIMALS = ["fox", "hare", "bear", "mouse", "owl", "hen", "duck", "goat", "frog", "wolf", "crow", "lion", "deer", "pig",
           "cat", "dog", "donkey", "squirrel", "hedgehog", "badger", "beaver", "turtle", "rabbit", "ant", "goose"]
NAMES = {"he": ["Tim", "Max", "Ben", "Tom", "Sam", "Leo", "Finn", "Jack"],
         "she": ["Lily", "Mia", "Anna", "Rosie", "Ella", "Sue", "Nora", "Daisy"]}
TRAITS = ["little", "young", "small", "brave", "kind", "clever", "shy", "old", "curious", "happy", "quiet"]
COLORS = ["red", "blue", "green", "yellow", "white", "brown", "golden", "grey"]
HOMES = ["in a hollow tree", "in a small house near the river", "in a cave under the hill", "at the edge of the forest",
         "in an old barn", "beside a quiet pond", "in a cottage on the hill", "under the roots of an oak"]
PLACES = ["under a bush", "behind a big stone", "near the bridge", "in the tall grass", "beside the well",
          "on the path", "under an apple tree", "at the foot of the hill", "by the old fence"]
TOYS = ["ball", "kite", "drum", "boat", "hat", "bell", "ring", "scarf", "basket", "lantern", "cup"]
FOODS = ["apples", "nuts", "berries", "carrots", "pears", "plums", "cherries", "mushrooms", "cakes", "seeds"]
TIMES = ["One day", "One morning", "One evening", "One sunny day", "One cold day", "On a warm afternoon", "One windy day"]
FEELINGS = ["happy", "glad", "proud", "full of joy"]
SAD = ["sad", "worried", "unhappy", "upset"]
NUMBERS = ["three", "four", "five", "six", "seven"]
TROUBLES = [("fell into a deep hole", "threw down a long rope", "pulled {b.him} out"),
            ("was stuck in the mud", "found a strong branch", "pulled {b.him} out"),
            ("was caught in a net", "bit through the strings", "set {b.him} free"),
            ("hurt {b.his} foot", "brought some soft leaves", "wrapped them around {b.his} foot"),
            ("was lost in the fog", "lit a lantern", "showed {b.him} the way home"),
            ("fell into the river", "held out a long stick", "helped {b.him} to the bank")]
FEARS = [("of the dark", "walk through the dark forest", "the stars are always there"),
         ("of water", "swim across the pond", "the water will carry you"),
         ("of thunder", "sleep during the storm", "it is only a big noise"),
         ("of heights", "climb the tall tree", "just look at the sky"),
         ("of snow", "walk up the white hill", "the snow is soft and clean")]
WORKS = [("a raft", "wood", "sank", "floated down the river"), ("a tower", "stones", "fell down", "stood in the sun"),
         ("a bridge", "branches", "broke", "was strong and safe"), ("a nest", "twigs", "fell apart", "was warm and dry"),
         ("a sledge", "planks", "broke", "slid down the hill"), ("a house", "straw", "blew away", "kept out the rain")]


class Animal:
    """A character: what it is, and the words that refer to it."""

    def __init__(self, rng, other=None):
        self.kind = rng.choice([a for a in ANIMALS if not other or a != other.kind])
        self.he = rng.choice(["he", "she"])
        self.him, self.his = ("him", "his") if self.he == "he" else ("her", "her")
        self.name = rng.choice([n for n in NAMES[self.he] if not other or n != other.name])
        self.trait = rng.choice(TRAITS)
        self.He = self.he.capitalize()
        self.a = "an" if (self.trait + self.kind)[0] in "aeio" else "a"
        self.a_kind = ("an " if self.kind[0] in "aeio" else "a ") + self.kind
        self.the = "the " + self.kind
        self.The = "The " + self.kind


def opening(rng, a):
    return rng.choice([
        "Once upon a time, there was {a.a} {a.trait} {a.kind} named {a.name}. {a.He} lived {home}.",
        "Once upon a time, {a.a} {a.trait} {a.kind} lived {home}. {a.His} name was {a.name}.",
        "{a.name} was {a.a} {a.trait} {a.kind} who lived {home}.",
        "There was once {a.a} {a.trait} {a.kind} named {a.name}, who lived {home}."])


def meeting(rng):
    return rng.choice([
        "There {a.he} met {b.a_kind} named {b.name}.",
        "Just then, {b.a_kind} named {b.name} came by.",
        "Soon {a.he} saw {b.a_kind} named {b.name}."])


def found(rng):
    return [
        "{time}, {a.name} found a {color} {toy} {place}.", "\"What a fine {toy}!\" said {a.name}.", meeting(rng),
        rng.choice(["\"That is my {toy},\" said {b.name}. \"I lost it yesterday.\"",
                    "{b.name} was {sad}, because {b.he} had lost a {color} {toy}."]),
        rng.choice(["{a.name} wanted to keep the {toy}, but {a.he} gave it back.",
                    "{a.name} gave the {color} {toy} to {b.name} at once."]),
        rng.choice(["\"Thank you!\" said {b.the}. \"Let us play with the {toy} together.\"",
                    "{b.name} was so {feeling} that {b.he} gave {a.him} {number} {food}."]),
        rng.choice(["From that day on, {a.the} and {b.the} were friends.",
                    "They played with the {color} {toy} until the sun went down."])]


def lost(rng):
    return [
        "{a.He} had a {color} {toy} and took it everywhere.", "{time}, the {toy} was gone, and {a.name} was {sad}.",
        meeting(rng), "\"Have you seen my {color} {toy}?\" asked {a.name}.",
        rng.choice(["\"No,\" said {b.the}, \"but I will help you to look for it.\"",
                    "\"I have not,\" said {b.name}. \"Let us look for it together.\""]),
        "They looked in the forest and in the field.", "At last, {b.name} found the {toy} {place}.",
        rng.choice(["{a.name} was {feeling} and thanked {b.the}.",
                    "\"You are a good friend,\" said {a.name}, and {a.he} was {feeling}."])]


def trouble(rng):
    what, first, then = rng.choice(TROUBLES)
    return [
        "{time}, {a.he} went for a walk.", f"{{b.A_kind}} named {{b.name}} {what}.",
        "\"Help, help!\" cried {b.the}.", "{a.name} heard {b.him} and ran to the place.",
        f"{{a.He}} {first} and {then}.", "\"Thank you, {a.name},\" said {b.name}. \"You are very {virtue}.\"",
        rng.choice(["The next day, {b.name} brought {a.him} {number} {food}.",
                    "That evening, they ate {food} and told stories.",
                    "Since then, {b.the} always helps {a.the}."]),
        rng.choice(["A friend in need is a friend indeed.", "Those who help others are never alone."])]


def greedy(rng):
    return [
        "{time}, {a.he} found {number} {food} {place}.", "\"They are all mine,\" said {a.name}.", meeting(rng),
        "\"I am so hungry,\" said {b.the}. \"May I have some of your {food}?\"",
        "\"No,\" said {a.name}, \"I will eat them alone.\"",
        rng.choice(["{a.He} ate all the {food}, and soon {a.his} belly hurt.",
                    "But the {food} were too many, and {a.he} was very sick that night."]),
        rng.choice(["{b.name} came back and made {a.him} some warm tea.", "{b.name} sat beside {a.him} and sang a song."]),
        "\"I am sorry,\" said {a.the}. \"Next time, we will share.\"",
        "And so {a.name} learned that it is better to share."]


def race(rng):
    return [
        "{a.He} was very fast and very proud.", "{time}, {b.a_kind} named {b.name} laughed and said, \"Let us run a race!\"",
        "\"You are much too slow,\" said {a.name}, but {b.the} only smiled.",
        "They ran from the {start} to the {end}.", "{a.name} was soon far ahead, so {a.he} lay down and slept.",
        "{b.name} walked on and on and did not stop.", "When {a.the} woke up, {b.the} was already at the {end}.",
        "\"I have won,\" said {b.name}.", "Slow and steady wins the race."]


def weather(rng):
    return [
        "{time}, dark clouds came over the hill.", rng.choice(["It began to rain, and the wind was cold.",
                                                               "Snow fell, and the path was gone."]),
        "{a.name} was far from home, and {a.he} was {sad}.", "Then {a.he} saw a light in a {color} house.",
        "{a.He} knocked at the door, and {b.a_kind} named {b.name} opened it.",
        "\"Come in and sit by the fire,\" said {b.the}.", "They ate {food} and drank hot milk.",
        rng.choice(["In the morning, the sun was shining, and {a.name} went home.",
                    "When the storm was over, {a.name} said goodbye and went home."]),
        rng.choice(["{a.He} never forgot how kind {b.the} was.", "The next week, {a.he} brought {b.name} a {color} {toy}."])]


def work(rng):
    what, of, failed, done = rng.choice(WORKS)
    return [
        f"{{time}}, {{a.name}} wanted to build {what}.", f"{{a.He}} took some {of} and worked all day.",
        f"But {what.replace('a ', 'the ', 1)} {failed}, and {{a.he}} was {{sad}}.", meeting(rng),
        "\"Do not give up,\" said {b.name}. \"I will help you.\"",
        f"So {{a.the}} and {{b.the}} found more {of} and tried again.",
        f"This time, {what.replace('a ', 'the ', 1)} {done}.",
        rng.choice(["\"We did it!\" cried {a.name}, and both were {feeling}.",
                    "\"Two can do more than one,\" said {b.the}."])]


def fear(rng):
    what, deed, comfort = rng.choice(FEARS)
    return [
        f"{{a.He}} was afraid {what}.", "All the other animals laughed at {a.him}, and {a.he} was {sad}.",
        f"{{time}}, {{b.a_kind}} named {{b.name}} said, \"Do not be afraid, {comfort}.\"",
        f"{{b.name}} took {{a.him}} by the hand, and together they began to {deed}.",
        rng.choice(["At first, {a.name} shook like a leaf, but {b.the} was always near.",
                    "{a.name} closed {a.his} eyes and went on, step by step."]),
        "\"Look, you did it!\" cried {b.the}.", f"Since that day, {{a.name}} is not afraid {what} any more.",
        "With a friend, everything is easy."]


def cake(rng):
    return [
        "It was the birthday of {b.name} {b.the}, and {a.name} wanted to bake a cake.",
        "{a.He} had milk and flour, but {a.he} had no {food}.", "So {a.he} took a {color} basket and went to the market.",
        "\"I need {number} {food},\" said {a.name}.", "The market was closed, but {a.he} found {number} {food} {place}.",
        "{a.He} ran home and baked the cake with the {food}.",
        "\"Happy birthday, {b.name}!\" said {a.the}.",
        rng.choice(["{b.name} ate {number} pieces and was {feeling}.",
                    "They lit {number} candles, and everybody sang."])]


PLOTS = [found, lost, trouble, greedy, race, weather, work, fear, cake]


def story(rng):
    """A story of about 100 words, one paragraph."""
    a = Animal(rng)
    b = Animal(rng, a)
    for animal in a, b:
        animal.His, animal.A_kind = animal.his.capitalize(), animal.a_kind.capitalize()
    start, end = rng.sample(["bridge", "mill", "oak", "well", "barn", "lake", "gate"], 2)
    words = dict(a=a, b=b, home=rng.choice(HOMES), time=rng.choice(TIMES), color=rng.choice(COLORS), toy=rng.choice(TOYS),
                 place=rng.choice(PLACES), sad=rng.choice(SAD), feeling=rng.choice(FEELINGS), food=rng.choice(FOODS),
                 number=rng.choice(NUMBERS), virtue=rng.choice(["kind", "brave", "clever"]), start=start, end=end)
    plot = rng.choice(PLOTS)(rng)
    return " ".join([opening(rng, a)] + plot).format(**words)
