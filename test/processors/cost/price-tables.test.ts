import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ConfigError } from '../../../src/config/config-error.js';
import { PriceFinder } from '../../../src/processors/cost/cost.js';
import { parsePriceTable, readPriceTable } from '../../../src/processors/cost/price-table.js';
import { runInProcess } from '../../support/cli.js';
import { projectFolder } from '../../support/project-file.js';

const SHIPPED = readPriceTable(join(projectFolder(), 'plugins/prices/prices.yaml'));

const linesOf = (text: string): readonly string[] => {
  try {
    parsePriceTable(text, 'p.yaml');
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
};

const BROKEN: readonly [name: string, text: string, ...lines: RegExp[]][] = [
  ['empty', '', /^p\.yaml:1:1: error: models: is missing/],
  ['a list', '- a\n', /^p\.yaml:1:1: error: the file must be a price table/],
  ['no models', 'models: []\n', /^p\.yaml:1:1: error: models: must not be empty/],
  ['no YAML', 'models: [\n', /^p\.yaml:2:1: error: cannot be read: /],
  [
    'a pattern without quotes',
    'models:\n  - match: [*x]\n    input: 1\n    output: 1\n',
    /^p\.yaml:2:13: error: .*put a text that begins with \* in quotes/,
  ],
  [
    'several at once',
    `models:
  - match: [a]
    input: cheap
    outptu: 1
  - match: []
    input: -1
    output: 2000000
  - match: b
    input: 1
    output: 1
`,
    /^p\.yaml:2:5: error: models\[0\]\.output: is missing/,
    /^p\.yaml:4:5: error: models\[0\]\.outptu: unknown key "outptu"; did you mean "output"\?/,
    /^p\.yaml:3:5: error: models\[0\]\.input: must be a number, but is "cheap"/,
    /^p\.yaml:5:5: error: models\[1\]\.match: must not be empty/,
    /^p\.yaml:6:5: error: models\[1\]\.input: must be >= 0, but is -1/,
    /^p\.yaml:7:5: error: models\[1\]\.output: must be <= 1000000, but is 2000000/,
    /^p\.yaml:8:5: error: models\[2\]\.match: must be a list, but is a single value/,
  ],
  [
    'too fine a price',
    'models:\n  - { match: [a], input: 0.0000001, output: 1, long: { over: 1, input: 1, output: 1.2345678 } }\n',
    /^p\.yaml:2:19: error: models\[0\]\.input: must have at most six decimal places/,
    /^p\.yaml:2:\d+: error: models\[0\]\.long\.output: must have at most six decimal places/,
  ],
  [
    'a name that never counts',
    `models:
  - { match: ['gpt-*'], input: 1, output: 1 }
  - { match: [gpt-5, o3], input: 1, output: 1 }
  - { match: [o3], provider: azure, input: 1, output: 1 }
`,
    /^p\.yaml:3:15: error: models\[1\]\.match\[0\]: "gpt-5" never counts: the entry in line 2 comes first/,
    /^p\.yaml:4:15: error: models\[2\]\.match\[0\]: "o3" never counts: the entry in line 3 comes first/,
  ],
];

void t.test('an invalid table reports every error with line and column', async (t) => {
  for (const [name, text, ...expected] of BROKEN) {
    const lines = linesOf(text);
    t.equal(lines.length, expected.length, `${name}: ${lines.join('; ')}`);
    for (const line of expected)
      t.ok(
        lines.some((found) => line.test(found)),
        `${name}: ${line.source}`,
      );
  }
});

void t.test('an entry for one provider may precede one for all', async (t) => {
  const table = parsePriceTable(
    `models:
  - { match: [m], provider: azure.*, input: 2, output: 2 }
  - { match: [m], input: 1, output: 1, cache_read: 0.5 }
`,
    'p.yaml',
  );
  const finder = new PriceFinder(table.models, 10);
  for (const time of ['first', 'second']) {
    t.equal(finder.find('m', 'azure.ai.openai')?.price.input, 2_000_000, `lookup ${time}`);
    t.match(finder.find('m', 'openai'), {
      price: { input: 1_000_000, cached_read: 500_000, cached_write: 1_000_000, audio_output: 1_000_000 },
      rule: 'p.yaml:3 m',
    });
    t.equal(finder.find('m', '')?.price.input, 1_000_000, 'without a provider the general price applies');
    t.equal(finder.find('n', ''), null);
  }
});

void t.test('finds models beyond the cache size', async (t) => {
  const finder = new PriceFinder(SHIPPED.models, 2);
  for (let round = 0; round < 3; round++)
    for (const model of ['gpt-5', 'gpt-4o', 'o3', 'unheard-of'])
      t.equal(finder.find(model, '') === null, model === 'unheard-of', model);
});

/** USD per million tokens of input and output, by the model name of each vendor or router. */
const KNOWN: readonly [input: number, output: number, ...names: string[]][] = [
  [5, 25, 'claude-opus-4-5', 'claude-opus-4-5-20251101', 'us.anthropic.claude-opus-4-5-20251101-v1:0'],
  [5, 25, 'anthropic/claude-opus-4.5', 'claude-opus-5', 'claude-opus-5[1m]'],
  [4, 20, 'claude-opus-5-5', 'anthropic/claude-opus-5.5'],
  [15, 75, 'claude-opus-4-20250514', 'claude-opus-4-1-20250805', 'claude-3-opus-20240229', 'claude-opus-4'],
  [3, 15, 'claude-sonnet-4-5', 'claude-sonnet-4@20250514', 'claude-3-5-sonnet-latest', 'claude-sonnet-4-6'],
  [2, 10, 'claude-sonnet-5', 'claude-sonnet-5-5'],
  [1, 5, 'claude-haiku-4-5-20251001'],
  [8, 40, 'claude-fable-5-2', 'anthropic/claude-fable-5.2'],
  [10, 50, 'claude-fable-5', 'claude-fable-5-1'],
  [2.5, 10, 'openai:gpt-4o', 'openrouter/openai/gpt-4o:online', 'gpt-4o:floor', 'openai/gpt-4o@preset/mine'],
  [5, 25, 'anthropic:claude-opus-4-5', 'bedrock:us.anthropic.claude-opus-4-5-20251101-v1:0'],
  [1.25, 10, 'gpt-5', 'gpt-5-2025-08-07', 'openai/gpt-5.1', 'gemini-2.5-pro', 'models/gemini-2.5-pro'],
  [0.25, 2, 'gpt-5-mini-2025-08-07'],
  [2, 8, 'gpt-4.1-2025-04-14', 'o3'],
  [2.5, 10, 'gpt-4o', 'gpt-4o-2024-08-06'],
  [5, 15, 'gpt-4o-2024-05-13'],
  [0.15, 0.6, 'gpt-4o-mini-2024-07-18'],
  [1.1, 4.4, 'o4-mini-2025-04-16', 'o3-mini'],
  [0.3, 2.5, 'gemini-2.5-flash'],
  [0.1, 0.4, 'gemini-2.5-flash-lite', 'gpt-4.1-nano'],
  [2.5, 10, 'gpt-4o-audio-preview', 'gpt-4o-audio-preview-2025-06-03', 'gpt-audio-1.5'],
  [0.02, 0, 'text-embedding-3-small'],
];

/** Models for which the shipped table must not use the price of a relative. */
const UNKNOWN = [
  'gpt-4o-mini-audio-preview',
  'gpt-9',
  'claude-opus-6',
  'gpt-5-ultra',
  'llama3',
  'model-one',
  'ft:gpt-4o',
  'ft:gpt-4o-mini-2024-07-18:us::x',
  'gpt-4o:free',
  '@cf/meta/llama',
];

void t.test('the shipped table has the common model names and no guesses', async (t) => {
  const finder = new PriceFinder(SHIPPED.models, 1000);
  t.match(SHIPPED.date, /^20\d\d-\d\d-\d\d$/);
  for (const [input, output, ...names] of KNOWN)
    for (const name of names) {
      const found = finder.find(name, '');
      t.strictSame(found && [found.price.input / 1e6, found.price.output / 1e6], [input, output], name);
    }
  for (const name of UNKNOWN) t.equal(finder.find(name, ''), null, name);
});

void t.test('cache prices of the shipped table are plausible', async (t) => {
  for (const { price } of SHIPPED.models)
    for (const rates of [price, ...(price.long === null ? [] : [price.long])]) {
      t.ok(rates.cached_read <= rates.input, `cache_read of ${JSON.stringify(rates)}`);
      t.ok(rates.cached_write <= 2 * rates.input, `cache_write of ${JSON.stringify(rates)}`);
    }
});

void t.test('an invalid table is a configuration error with its position', async (t) => {
  const folder = t.testdir({
    'prices.yaml': 'models:\n  - { match: [a], input: 1 }\n',
  });
  const config = join(folder, 'config.yaml');
  const prices = join(folder, 'prices.yaml');
  const validate = async (path: string) => {
    writeFileSync(config, `processors:\n  cost:\n    prices: ${path}\n`);
    const example = join(projectFolder(), 'config.example.yaml');
    return runInProcess(['validate', '--config', example, '--config', config]);
  };
  const broken = await validate(prices);
  t.equal(broken.code, 78);
  t.ok(
    broken.stderr.includes(
      `${config}:3:5: error: processors.cost.prices: ${prices}:2:5: error: models[0].output: is missing`,
    ),
    broken.stderr,
  );
  const missing = await validate(join(folder, 'none.yaml'));
  t.equal(missing.code, 78);
  t.match(
    missing.stderr,
    /config\.yaml:3:5: error: processors\.cost\.prices: .*none\.yaml cannot be read: ENOENT/,
  );
  t.match((await validate(folder)).stderr, /processors\.cost\.prices: .* cannot be read: /);
});
