import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { Type, type Static } from 'typebox';
import { ConfigError, type Problem } from '../../config/config-error.js';
import { locate, type MapNode } from '../../config/config-node.js';
import { decodeUtf8 } from '../../config/utf8.js';
import { parseYaml } from '../../config/parse-yaml.js';
import { checkSchema } from '../../config/schema-check.js';
import { section } from '../../config/schema.js';
import { SERVICE_TIERS } from '../../signal/call-details.js';
import { modelPattern, namePattern, type NameTest } from './name-pattern.js';
import { RATE_SCALE, type Price, type Rates } from '../../signal/price.js';

/** One entry of a table, compiled for matching. */
export interface PricedModels {
  readonly match: readonly NameTest[];
  /** The providers it is for; null: all. */
  readonly provider: NameTest | null;
  /** The provider pattern as written. */
  readonly providerPattern: string | null;
  /** A name that its first pattern fits. */
  readonly name: string;
  readonly price: Price;
  /** Readable name of the entry: `prices.yaml:245 gpt-4o-mini, gpt-4o-mini-20* (2026-11-21)`. */
  readonly rule: string;
}

/** A price table. */
export interface PriceTable {
  /** The date of the prices according to the table; null if missing. */
  readonly date: string | null;
  /** In the order of the file: the first entry that fits a model applies. */
  readonly models: readonly PricedModels[];
}

/** Limits what a mistyped path can load; a table has some hundred entries. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MOST_USD = 1_000_000;
/** Maximum number of an entry's patterns in its name, which is stored with every span that it prices. */
const MOST_NAMED = 2;
const LONGEST_NAMES = 100;

const usd = (description: string) => Type.Number({ minimum: 0, maximum: MOST_USD, description });
const rates = {
  input: usd('USD per million input tokens.'),
  output: usd('USD per million output tokens.'),
  cache_read: Type.Optional(usd('USD per million input tokens read from a cache. Default: as input.')),
  cache_write: Type.Optional(usd('USD per million input tokens written to a cache. Default: as input.')),
  cache_write_5m: Type.Optional(
    usd('USD per million tokens cached for five minutes. Default: as cache_write.'),
  ),
  cache_write_1h: Type.Optional(
    usd('USD per million tokens cached for one hour. Default: 2 * input for Claude, else as cache_write.'),
  ),
  audio_input: Type.Optional(usd('USD per million audio input tokens. Default: as input.')),
  audio_output: Type.Optional(usd('USD per million audio output tokens. Default: as output.')),
};

/** A larger factor is probably a price given by mistake. */
const MOST_FACTOR = 100;
const tiers = section(
  Object.fromEntries(
    SERVICE_TIERS.map((tier) => [
      tier,
      Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: MOST_FACTOR,
          description: `Factor for all prices of calls in the service tier ${tier}.`,
        }),
      ),
    ]),
  ) as Record<
    (typeof SERVICE_TIERS)[number],
    ReturnType<typeof Type.Optional<ReturnType<typeof Type.Number>>>
  >,
  { isOptional: true },
);

const entrySchema = section({
  match: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), {
    minItems: 1,
    description: 'Patterns of model names.',
  }),
  provider: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  ...rates,
  tiers: Type.Optional(tiers),
  long: Type.Optional(
    section(
      {
        over: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
        ...rates,
      },
      { isOptional: true },
    ),
  ),
});

const tableSchema = section({
  date: Type.Optional(Type.String()),
  source: Type.Optional(Type.String()),
  models: Type.Array(entrySchema, { minItems: 1 }),
});

type Entry = Static<typeof entrySchema>;

let lastRead: { readonly file: string; readonly text: string; readonly table: PriceTable } | undefined;

/**
 * Reads a price table. The last one is cached, since a table is read for validation and again for use.
 *
 * @throws ConfigError with all problems, by file, line and column
 */
export function readPriceTable(file: string): PriceTable {
  const text = readText(file);
  if (lastRead?.file !== file || lastRead.text !== text)
    lastRead = { file, text, table: parsePriceTable(text, file) };
  return lastRead.table;
}

/** @param file its name in errors. @throws ConfigError like {@link readPriceTable} */
export function parsePriceTable(text: string, file: string): PriceTable {
  const { root, problems: unreadable } = parseYaml(text, file, 'a price table: a map with the key models:');
  const broken = unreadable.filter(({ severity }) => severity === 'error');
  if (root?.kind !== 'map' || broken.length > 0) throw new ConfigError(broken);
  const { value, problems } = checkSchema(tableSchema, root, []);
  if (problems.length > 0) throw new ConfigError(problems);
  const { date = null, models } = value as Static<typeof tableSchema>;
  const ruleOf = (entry: Entry, index: number): string => {
    const { line } = locate(root, ['models', String(index)]);
    return `${basename(file)}:${line} ${namesOf(entry)}${date === null ? '' : ` (${date})`}`;
  };
  const unusable = [...tooFine(models, root), ...neverReached(models, root)];
  if (unusable.length > 0) throw new ConfigError(unusable);
  return { date, models: models.map((entry, index) => pricedModels(entry, ruleOf(entry, index))) };
}

function readText(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
    return decodeUtf8(readFileSync(file));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([
      { severity: 'error', path: [], message: `the price table ${file} cannot be read: ${reason}` },
    ]);
  }
}

/** Prices with more decimal places than costs are computed with. */
function tooFine(models: readonly Entry[], root: MapNode): readonly Problem[] {
  const inside = (values: object, path: readonly string[]): readonly Problem[] =>
    Object.keys(rates).flatMap((key) => {
      const value = (values as Readonly<Record<string, unknown>>)[key];
      if (typeof value !== 'number' || Math.round(value * RATE_SCALE) / RATE_SCALE === value) return [];
      return [problem(root, [...path, key], 'must have at most six decimal places')];
    });
  return models.flatMap((entry, index) => {
    const path = ['models', String(index)];
    return [...inside(entry, path), ...(entry.long ? inside(entry.long, [...path, 'long']) : [])];
  });
}

/** Literal names that an earlier entry covers for every provider, which is probably a mistake. */
function neverReached(models: readonly Entry[], root: MapNode): readonly Problem[] {
  const tests = models.map(({ match }) => match.map(modelPattern));
  return models.flatMap(({ match, provider }, index) =>
    match.flatMap((name, place) => {
      if (name.includes('*')) return [];
      const first = models.findIndex(
        (other, at) =>
          (other.provider === undefined || other.provider === provider) &&
          tests[at]?.some((matches) => matches(name)),
      );
      if (first >= index) return [];
      const path = ['models', String(index), 'match', String(place)];
      const { line } = locate(root, ['models', String(first)]);
      return [
        problem(root, path, `"${name}" never counts: the entry in line ${line} comes first and matches it`),
      ];
    }),
  );
}

function problem(root: MapNode, path: readonly string[], message: string): Problem {
  return { severity: 'error', position: locate(root, path), path, message };
}

/** The first patterns of an entry, enough to identify it. */
function namesOf({ match, provider }: Entry): string {
  const names = match.slice(0, MOST_NAMED).join(', ');
  const more = match.length > MOST_NAMED ? ' …' : '';
  return `${names}${more}${provider === undefined ? '' : ` of ${provider}`}`.slice(0, LONGEST_NAMES);
}

/** Anthropic charges twice the input price for one-hour cache writes, for every model. */
const CLAUDE = /claude|anthropic/i;
const CLAUDE_HOUR = 2;

function pricedModels({ match, provider, long, tiers, ...own }: Entry, rule: string): PricedModels {
  const isClaude = CLAUDE.test(match.join(' ')) || CLAUDE.test(provider ?? '');
  return {
    match: match.map(modelPattern),
    provider: provider === undefined ? null : namePattern(provider),
    providerPattern: provider ?? null,
    name: (match[0] ?? '').replaceAll('*', ''),
    price: {
      ...ratesOf(own, isClaude),
      long: long === undefined ? null : { ...ratesOf(long, isClaude), over: long.over },
      ...(tiers === undefined ? {} : { tiers }),
    },
    rule,
  };
}

function ratesOf(prices: Pick<Entry, keyof typeof rates>, isClaude: boolean): Rates {
  const rate = (usdPerMillion: number) => Math.round(usdPerMillion * RATE_SCALE);
  const write = prices.cache_write ?? prices.input;
  return {
    input: rate(prices.input),
    output: rate(prices.output),
    cached_read: rate(prices.cache_read ?? prices.input),
    cached_write: rate(write),
    cached_write_5m: rate(prices.cache_write_5m ?? write),
    cached_write_1h: rate(prices.cache_write_1h ?? (isClaude ? CLAUDE_HOUR * prices.input : write)),
    audio_input: rate(prices.audio_input ?? prices.input),
    audio_output: rate(prices.audio_output ?? prices.output),
  };
}
