import fc from 'fast-check';
import t from 'tap';
import { findExcess as findExcessOf, StructureScan } from '../../src/http/json-structure.js';
import { holds } from '../support/property.js';

const findExcess = (body: Uint8Array): string | undefined => findExcessOf(body, { nodes: 500_000 });
const bytes = (text: string): Buffer => Buffer.from(text);

void t.test('finds excessive bodies before parsing', async (t) => {
  const depth = 'nests deeper than 1000 levels';
  const nodes = 'holds more than 500000 objects, lists and fields';
  t.equal(findExcess(bytes('['.repeat(16 * 1024 * 1024))), depth);
  t.equal(findExcess(bytes('{"":'.repeat(100_000))), depth);
  t.equal(findExcess(bytes(' [\n'.repeat(100_000))), depth);
  t.equal(findExcess(bytes(`[${'{},'.repeat(600_000)}{}]`)), nodes);
  t.equal(findExcess(bytes(`{${'"a":1,'.repeat(600_000)}"b":1}`)), nodes);
  t.equal(findExcess(bytes('['.repeat(1001))), depth);
  t.equal(findExcess(bytes('['.repeat(1000))), undefined);
});

void t.test('ignores brackets and colons in strings', async (t) => {
  const noise = '[{:'.repeat(300_000);
  t.equal(findExcess(bytes(JSON.stringify([noise, `"${noise}`, `${noise}\\`, noise]))), undefined);
  t.equal(findExcess(bytes(`"\\\\\\"${noise}"`)), undefined);
});

void t.test('finds the end of strings of any length', async (t) => {
  const noise = '['.repeat(1500);
  for (const length of [0, 1, 30, 60, 61, 62, 63, 64, 65, 66, 67, 200]) {
    for (const tail of ['', '"', '\\', '\\"', '\\\\', '"\\'] as const) {
      const text = JSON.stringify('x'.repeat(length) + tail + noise);
      if (findExcess(bytes(text)) !== undefined) t.fail(`${length} and ${tail}: read past the end`);
      if (findExcess(bytes(`${text}${noise}`)) === undefined) t.fail(`${length} and ${tail}: end not found`);
      const short = JSON.stringify('x'.repeat(length) + tail);
      if (findExcess(bytes(short + noise)) === undefined) t.fail(`${length} and ${tail}: end found late`);
    }
  }
  t.pass();
});

void t.test('accepts many numbers and one long text', async (t) => {
  t.equal(findExcess(bytes(JSON.stringify(Array.from({ length: 1_000_000 }, () => 0.5)))), undefined);
  t.equal(findExcess(bytes(JSON.stringify({ text: 'x'.repeat(10_000_000) }))), undefined);
  t.equal(findExcess(bytes('"'.repeat(1_000_001))), undefined);
});

void t.test('checks small bodies, too', async (t) => {
  const deep = 'nests deeper than 1000 levels';
  t.equal(findExcess(bytes('['.repeat(1001))), deep);
  t.equal(findExcess(bytes(`${'{"":'.repeat(1001)}1${'}'.repeat(1001)}`)), deep);
  t.equal(findExcess(bytes(`[${'[[]],'.repeat(2000)}0]`)), undefined, 'many sibling brackets are not deep');
  t.equal(findExcess(bytes(JSON.stringify('['.repeat(5000)))), undefined, 'nor are brackets in text');
});

void t.test('limits values where requested', async (t) => {
  const limits = { nodes: 5000, values: 5000 };
  t.equal(findExcessOf(bytes(`[${'1,'.repeat(5001)}1]`), limits), 'holds more than 5000 values');
  t.equal(findExcessOf(bytes(`[${'1,'.repeat(5000)}1]`), limits), undefined);
  t.equal(findExcessOf(bytes(`["${','.repeat(50_000)}"]`), limits), undefined);
});

void t.test('counts like a parser', async (t) => {
  const levels = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? 1 + Math.max(0, ...Object.values(value).map((child) => levels(child)))
      : 0;
  holds(
    t,
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const around = 1000 - levels(value);
      const text = (outer: number) => bytes('['.repeat(outer) + JSON.stringify(value) + ']'.repeat(outer));
      return findExcess(text(around)) === undefined && findExcess(text(around + 1)) !== undefined;
    }),
    { numRuns: 30 },
  );
});

void t.test('chunked text is measured like the whole, wherever it is split', async (t) => {
  const character = fc.constantFrom('[', ']', '{', '}', ',', ':', '"', '\\', 'x');
  holds(
    t,
    fc.property(
      fc.array(character, { maxLength: 300 }),
      fc.array(fc.nat(300), { maxLength: 12 }),
      fc.integer({ min: 1, max: 12 }),
      (characters, cuts, limit) => {
        const text = bytes(characters.join(''));
        const limits = { nodes: limit, values: limit };
        const scan = new StructureScan(limits);
        const places = [0, ...cuts.sort((a, b) => a - b), text.length];
        const inPieces = places.map((place, at) => scan.push(text.subarray(places[at - 1] ?? 0, place)));
        return inPieces.find((excess) => excess !== undefined) === new StructureScan(limits).push(text);
      },
    ),
  );
});
