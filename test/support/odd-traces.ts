import { anItem, nestedText } from './trace-batch.js';

/** Odd but valid items, which are accepted. */
export function oddTraces(): readonly { readonly name: string; readonly item: () => string }[] {
  const odd = (name: string, from: string, to: string) => ({
    name,
    item: () => JSON.stringify(anItem()).replace(from, () => to),
  });
  return [
    odd('unknown fields', '"success":true', '"success":true,"later":{"x":1}'),
    odd('a key that comes twice', '"success":true', '"success":"no","success":true'),
    odd('__proto__ in metadata', '"environment":"test"', '"__proto__":{"polluted":true}'),
    odd('constructor in metadata', '"environment":"test"', '"constructor":{"prototype":{"polluted":true}}'),
    odd('minus zero', ':1250', ':-0'),
    odd('a number below doubles', ':1250', ':1e-400'),
    odd('nulls for what may be absent', '"success":true', '"success":null,"ended_at":null,"status":null'),
    odd('metadata of 64 levels', '{"environment":"test"}', nestedText(64)),
    odd('an escaped pair of surrogates', '"test"', '"\\ud83d\\ude00"'),
    odd('U+0000 in a payload', '"test"', '"a\\u0000b"'),
    odd('U+0000 in an error', '"success":true', '"error_message":"a\\u0000b"'),
    odd('a name of 1024 wide characters', 'researcher', '\u{1f600}'.repeat(1024)),
    odd('a cost as a number', '"success":true', '"total_cost_usd":0.1'),
    odd(
      'a time with nine digits and an offset',
      '2026-11-03T08:15:30.250Z',
      '2026-11-03T09:15:30.250999999+01:00',
    ),
  ];
}
