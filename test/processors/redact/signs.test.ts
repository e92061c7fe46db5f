import fc from 'fast-check';
import t from 'tap';
import { FOLDABLE, pairs, Signs, type Sign } from '../../../src/processors/redact/text/signs.js';

/** Few characters, so that neighbours meet; non-ASCII is 0. */
const CHARACTERS = ['a', 'b', '1', '-', '\u00e9'];
const CODES = [97, 98, 49, 45, 0];
const code = fc.constantFrom(...CODES);
const anyOf = fc.uniqueArray(code, { minLength: 1 });

interface Place {
  readonly both: readonly [number, number];
  readonly around: Readonly<Partial<Record<'before' | 'behind' | 'third' | 'fifth', readonly number[]>>>;
}

const place: fc.Arbitrary<Place> = fc.record({
  both: fc.tuple(code, fc.constantFrom(97, 98, 49, 45)),
  around: fc.record({ before: anyOf, behind: anyOf, third: anyOf, fifth: anyOf }, { requiredKeys: [] }),
});

const OFFSETS = { before: -2, behind: 1, third: 3, fifth: 5 } as const;

/** Reference implementation of its positions. */
function placesOf({ both, around }: Place, text: string): readonly number[] {
  const at = (index: number) => {
    const found = index < 0 || index >= text.length ? 0 : text.charCodeAt(index);
    return found < 128 ? found : 0;
  };
  return [...Array(text.length).keys()].filter(
    (index) =>
      both[0] === at(index - 1) &&
      both[1] === text.charCodeAt(index) &&
      Object.entries(OFFSETS).every(
        ([name, offset]) => around[name as keyof typeof OFFSETS]?.includes(at(index + offset)) ?? true,
      ),
  );
}

/** A sign that records the positions at which it was checked. */
function signOf({ both, around }: Place, asked: Set<number>): Sign {
  return {
    pairs: pairs([both[0]], [both[1]]),
    ...around,
    isThere: (_, at) => {
      asked.add(at);
      return false;
    },
  };
}

void t.test('checks each sign only at possible positions', async () => {
  const text = fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 40 });
  fc.assert(
    fc.property(fc.array(place, { minLength: 1, maxLength: 50 }), text, (places, text) => {
      const inText = places.map(() => new Set<number>());
      const inBytes = places.map(() => new Set<number>());
      const empty = () => new Set<number>();
      new Signs([places.map((one, index) => signOf(one, inText[index] ?? empty()))]).inText(text, 0);
      new Signs([places.map((one, index) => signOf(one, inBytes[index] ?? empty()))]).inBytes(
        Buffer.from(text, 'latin1'),
        0,
      );
      const lists = new Map<string, number>();
      return places.every((one, index) => {
        const expected = placesOf(one, text).join();
        // Signs that share the last bit of a list may be checked more often.
        const name = one.both.join();
        const before = lists.get(name) ?? 0;
        lists.set(name, before + 1);
        const isEnough = (asked: ReadonlySet<number> | undefined) =>
          before < 31 ? [...(asked ?? [])].join() === expected : true;
        return isEnough(inText[index]) && isEnough(inBytes[index]);
      });
    }),
  );
});

void t.test('loses no sign with many equal neighbours or far into a text', async (t) => {
  const both = [97, 98] as const;
  const many = Array.from({ length: 40 }, () => new Set<number>());
  const signs = many.map((asked, index) => signOf({ both, around: { behind: [49, index] } }, asked));
  const text = `${'-'.repeat(4094)}ab1${'-'.repeat(4093)}ab1`;
  for (const look of [
    (all: Signs) => all.inText(text, 0),
    (all: Signs) => all.inBytes(Buffer.from(text), 0),
  ]) {
    for (const asked of many) asked.clear();
    t.equal(look(new Signs([signs])) & ~FOLDABLE, 0);
    t.ok(many.every((asked) => asked.has(4095) && asked.has(8191)));
  }
});
