import { write, type Grammar } from '../grammar.js';
import { MODELS } from '../models.js';
import { drawVerdict, type AgentProfile } from '../profile.js';
import type { Recorder } from '../recorder.js';
import { VOCABULARY } from '../vocabulary.js';

const GRAMMAR = {
  ...VOCABULARY,
  question: [
    'What was our {measure} by {dimension} in {month}, and how does that compare with the month before?',
    'Which {dimension} had the largest drop in {measure} over the last {4-13} weeks?',
    'Show {measure} per {dimension} for customers from {country} who signed up after {month}. I need it for the board meeting on {weekday}.',
    'Why is {measure} for {product} lower this quarter? Break it down by {dimension}.',
  ],
  measure: [
    'revenue',
    'churn rate',
    'average order value',
    'return rate',
    'gross margin',
    'number of active accounts',
    'time to first purchase',
  ],
  dimension: [
    'region',
    'sales channel',
    'product category',
    'customer segment',
    'acquisition campaign',
    'warehouse',
  ],
  sql: [
    "WITH base AS (\n  SELECT c.segment, date_trunc('month', o.placed_at) AS month, sum(o.total) AS revenue, count(*) AS orders\n  FROM orders o JOIN customers c ON c.id = o.customer_id\n  WHERE o.placed_at >= date '2026-{10-12}-01' AND o.state <> 'cancelled'\n  GROUP BY 1, 2\n)\nSELECT *, revenue / lag(revenue) OVER (PARTITION BY segment ORDER BY month) - 1 AS change\nFROM base ORDER BY segment, month LIMIT {50-500}",
    "SELECT r.name AS region, count(DISTINCT a.id) FILTER (WHERE a.closed_at IS NULL) AS active,\n       round(100.0 * count(DISTINCT a.id) FILTER (WHERE a.closed_at >= now() - interval '{30-90} days') / nullif(count(DISTINCT a.id), 0), 1) AS churn\nFROM accounts a JOIN regions r ON r.id = a.region_id\nGROUP BY r.name ORDER BY churn DESC",
    "SELECT p.category, avg(i.price * i.quantity) AS avg_value, sum(i.returned::int)::float / count(*) AS return_rate\nFROM order_items i JOIN products p USING (product_id)\nWHERE i.shipped_at BETWEEN now() - interval '{8-13} weeks' AND now()\nGROUP BY p.category HAVING count(*) > {20-200}",
  ],
  error: [
    'column o.placed_on does not exist',
    'syntax error at or near "FILTER"',
    'operator does not exist: text >= date',
    'canceling statement due to statement timeout',
    'relation "order_line" does not exist',
  ],
  answer: [
    '{measure_start} was {amount} in total, {1-24} % {direction} than in the month before. The change comes almost only from one {dimension}: without it the figure would be flat. Note that {2-9} % of the rows have no {dimension} and are left out.',
    'The largest drop is in {city}: {8-42} % in {4-13} weeks. It began in the week of {month} {1-28}, the week in which the price of the {product} went up. All other groups moved by less than {2-6} %.\n\n| group | before | now |\n|---|---|---|\n| A | {100-900} | {100-900} |\n| B | {100-900} | {100-900} |\n| C | {100-900} | {100-900} |',
  ],
  measure_start: ['Revenue', 'Gross margin', 'The average order value'],
  direction: ['higher', 'lower'],
} satisfies Grammar;

const SYSTEM =
  'You turn questions into PostgreSQL for the warehouse whose schema is given. Read-only statements, explicit columns, always a LIMIT for row listings. Prefer the tables in schema `mart`. If the question cannot be answered from the schema, say what is missing instead of writing a query.';

function run(recorder: Recorder) {
  const { random } = recorder;
  const question = write(random, GRAMMAR, '{question}');
  return recorder.agent('sql-analyst', { question, user: write(random, GRAMMAR, '{first_name}') }, (root) => {
    recorder.database({
      system: 'postgresql',
      namespace: 'warehouse',
      name: 'SELECT information_schema',
      ms: 24,
      statement:
        'SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = $1',
      output: { rows: random.integer(80, 400) },
    });
    let prompt = question;
    for (let attempt = 1; ; attempt += 1) {
      const statement = write(random, GRAMMAR, '{sql}');
      recorder.model({
        model: MODELS.gpt41,
        fallback: MODELS.sonnet,
        name: 'write sql',
        system: SYSTEM,
        prompt,
        completion: statement,
        contextTokens: 3100,
      });
      const error = random.chance(0.24) ? write(random, GRAMMAR, '{error}') : undefined;
      const query = () => {
        recorder.database({
          system: 'postgresql',
          namespace: 'warehouse',
          name: 'SELECT mart',
          ms: 900,
          statement,
          ...(error === undefined ? { output: { rows: random.integer(1, 480) } } : { error }),
        });
      };
      if (attempt === 3 || error === undefined) {
        query();
        break;
      }
      recorder.survives(query);
      prompt = `${question}\n\nYour last statement failed: ${error}. Correct it.`;
    }
    recorder.model({
      model: MODELS.gpt5Mini,
      name: 'explain',
      prompt: `Explain the result to somebody who does not know SQL.\nQuestion: ${question}`,
      completion: write(random, GRAMMAR, '{answer}'),
      contextTokens: 900,
      reasoningTokens: 200,
    });
    root.output = { chart: random.pick(['bar', 'line', 'table']) };
    return drawVerdict(recorder, [
      { outcome: 'answered', success: true, weight: 74 },
      { outcome: 'thumbs_down', success: false, weight: 11 },
      { outcome: 'no_feedback', weight: 22 },
    ]);
  });
}

/** Answers questions about the business from the warehouse. */
export const sqlAnalyst: AgentProfile = {
  name: 'sql-analyst',
  weight: 12,
  rhythm: 'office',
  sdkVersion: '0.4.0',
  metadata: { environment: 'production', team: 'data-platform', surface: 'slack' },
  run,
};
