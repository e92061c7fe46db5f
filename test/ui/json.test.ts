import fc from 'fast-check';
import t from 'tap';
import { jsonLines } from '../../src/ui/json/lines.js';
import { parseJson, printJson, tryParseJson } from '../../src/ui/json/parse.js';
import { textKind } from '../../src/ui/json/text-kind.js';
import { safeLink } from '../../src/ui/messages/safe-link.js';

void t.test('round-trips the output of JSON.stringify', async (t) => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      // JSON.parse reorders only numeric keys.
      t.same(JSON.parse(printJson(parseJson(text))), JSON.parse(text));
      t.same(JSON.parse(printJson(parseJson(text), true)), JSON.parse(text));
    }),
  );
});

void t.test('keeps digits, order and repeated keys', async (t) => {
  for (const text of [
    '1.0',
    '12345678901234567890',
    '-0',
    '1e400',
    '{"b":1,"a":2,"b":3}',
    '{"2":0,"1":0}',
    '""',
  ])
    t.equal(printJson(parseJson(` ${text} `)), text);
});

void t.test('other texts are not JSON', async (t) => {
  for (const text of [
    '',
    '{',
    '[1,]',
    '{"a"}',
    '{"a":1,}',
    '01',
    "'a'",
    '1 2',
    '[1 2]',
    'nul',
    '"\n"',
    '{"a":1}}',
    'NaN',
  ])
    t.equal(tryParseJson(text), undefined, text);
  fc.assert(
    fc.property(fc.string(), (text) => {
      let known = true;
      try {
        JSON.parse(text);
      } catch {
        known = false;
      }
      t.equal(tryParseJson(text) !== undefined, known);
    }),
  );
});

void t.test('shows deep JSON and rejects deeper than storable JSON', async (t) => {
  t.ok(parseJson('['.repeat(1000) + ']'.repeat(1000)));
  t.equal(tryParseJson('['.repeat(100_000)), undefined);
});

void t.test('collapsed lines hide their children', async (t) => {
  const value = parseJson('{"a":[1,{"b":{"c":{}}}],"d":"x"}');
  const all = jsonLines(value, new Set());
  t.same(
    all.map(({ depth, key, isOpen }) => [depth, key, isOpen]),
    [
      [0, undefined, true],
      [1, 'a', true],
      [2, undefined, undefined],
      [2, undefined, true],
      [3, 'b', false],
      [1, 'd', undefined],
    ],
  );
  t.equal(jsonLines(value, new Set([''])).length, 1);
  t.equal(jsonLines(value, new Set(['.0.1.0'])).length, 7);
});

void t.test('links lead only to http(s) or mailto', async (t) => {
  t.equal(safeLink('https://example.com/a b'), 'https://example.com/a%20b');
  t.equal(safeLink('mailto:a@example.com'), 'mailto:a@example.com');
  for (const href of [
    'javascript:alert(1)',
    ' JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    '//evil.example',
    '/agents',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://x/y',
    '',
  ])
    t.equal(safeLink(href), undefined, href);
});

void t.test('shows a string as the JSON it contains on request', async (t) => {
  const value = parseJson(JSON.stringify({ args: '{"city":"Oslo","at":1.0}', text: '{broken}' }));
  t.equal(jsonLines(value, new Set()).length, 3);
  const lines = jsonLines(value, new Set(), new Set(['.0', '.1']));
  t.same(
    lines.map(({ key }) => key),
    [undefined, 'args', 'city', 'at', 'text'],
  );
  t.match(lines[3]?.value, { digits: '1.0' });
  t.equal(jsonLines(value, new Set(['.0']), new Set(['.0'])).length, 3, 'collapses');
});

void t.test('recognizes base64, JSON and long texts', async (t) => {
  const data = Buffer.from(Array.from({ length: 900 }, (_, at) => (at * 89) % 256)).toString('base64');
  t.match(textKind(data), { kind: 'base64', type: '', bytes: 900, isCut: false });
  t.match(textKind(`data:image/png;base64,${data}`), { kind: 'base64', type: 'image/png', bytes: 900 });
  t.match(textKind(`${data.slice(0, 601)}…`), { kind: 'base64', isCut: true });
  t.equal(textKind('x'.repeat(5000)).kind, 'long');
  t.equal(textKind('0123456789abcdef'.repeat(40)).kind, 'long', 'a hash in hexadecimal');
  t.equal(textKind('Words that are read. '.repeat(40)).kind, 'long');
  t.equal(textKind('a\n'.repeat(8)).kind, 'long');
  t.equal(textKind(' {"a": 1} ').kind, 'json');
  t.equal(textKind('{}').kind, 'plain');
  t.equal(textKind('short').kind, 'plain');
});
