import { Type } from 'typebox';
import { listAgents } from '../../../api/resources/agents.js';
import { listModels } from '../../../api/resources/models.js';
import { readSeries } from '../../../api/resources/run-series.js';
import { listUsers } from '../../../api/resources/sessions.js';
import { readWhatIf } from '../../../api/resources/what-if.js';
import type { OperationAnswer } from '../../../http/operation-call.js';
import { costText, figure, oneLine, shareText, tokenText, words } from '../answer.js';
import type { ApiCalls } from '../api-calls.js';
import { agentArgument, agentIdOf, defineTool, limitArgument, period, timesOf, type Tool } from '../tool.js';

const name = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description }));

const showAgents = defineTool({
  name: 'list_agents',
  title: 'List agents',
  description: 'Agents with runs, success, failures, cost and last run; the most recently active first.',
  args: Type.Object(
    {
      query: name('Part of the name.'),
      environment: name('Only runs in this environment.'),
      release: name('Only runs of this release.'),
      page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
      limit: limitArgument(100, 50),
    },
    { additionalProperties: false },
  ),
  async run({ limit, page, ...filter }, { api, answer }) {
    const found = await api.call(listAgents, { query: { ...filter, page, page_size: limit } });
    const { items, count, has_more } = Array.isArray(found)
      ? { items: found, count: found.length, has_more: false }
      : found;
    const shown = answer.list(items, (agent) =>
      words(
        oneLine(agent.name, 100),
        `${agent.total_runs} runs`,
        agent.success_percentage !== null && `success ${figure(agent.success_percentage)}%`,
        agent.failed_runs > 0 && `${agent.failed_runs} failed`,
        costText(agent.total_cost),
        agent.avg_cost_per_run !== null && `${costText(agent.avg_cost_per_run)} a run`,
        agent.last_run_at !== null && `last run ${agent.last_run_at}`,
        agent.id,
      ),
    );
    answer.note(`${shown} of ${count} agents.`);
    if (shown < items.length)
      answer.note(`Set limit to ${Math.max(1, shown)}, or raise max_tokens, to page.`);
    else if (has_more)
      answer.next('list_agents', { page: page + 1, limit }, 'shows more, with the same filters.');
    const failing = items.find(({ failed_runs }) => failed_runs > 0);
    if (failing) answer.next('search_runs', { agent: failing.id, status: 'failed' }, 'lists failed runs.');
  },
});

interface CostRow {
  readonly key: string;
  readonly cost: number | null;
  readonly tokens: number | null;
  readonly count: string;
}

interface CostQuery {
  readonly start_time?: string;
  readonly end_time?: string;
  readonly agent_id?: string;
  readonly environment?: string;
  readonly release?: string;
}

/** Reads the costs of each group. */
const GROUPS: Readonly<
  Record<'agent' | 'model' | 'user', (api: ApiCalls, query: CostQuery) => Promise<readonly CostRow[]>>
> = {
  async agent(api, query) {
    const { groups } = await api.call(readSeries, { query: { ...query, group_by: 'agent' } });
    return groups.map(({ key, name: agent, total }) => ({
      key: key === null ? '(other agents)' : `${oneLine(agent ?? '', 100)} · ${key}`,
      cost: total?.cost ?? null,
      tokens: total?.tokens ?? null,
      count: `${total?.runs ?? 0} runs`,
    }));
  },
  async model(api, query) {
    const { items } = await api.call(listModels, { query: { ...query, page_size: 100 } });
    return items.map(({ model, total_cost, total_tokens, calls, priced_calls }) => ({
      key: model === null ? '(no model)' : oneLine(model, 100),
      cost: total_cost,
      tokens: total_tokens,
      count: words(`${calls} calls`, priced_calls < calls && `${calls - priced_calls} without a cost`),
    }));
  },
  async user(api, query) {
    const { items } = await api.call(listUsers, { query: { ...query, page_size: 100 } });
    return items.map(({ user_id, total_cost, total_tokens, total_runs }) => ({
      key: oneLine(user_id, 100),
      cost: total_cost,
      tokens: total_tokens,
      count: `${total_runs} runs`,
    }));
  },
};
const GROUP_NAMES = ['agent', 'model', 'user'] as const;
const DEFAULT_AGE = '7d';

const costBy = defineTool({
  name: 'cost_by',
  title: 'Cost by group',
  description:
    'Cost, tokens and number of runs or calls by agent, model or end user, most expensive first; by default of the last 7 days.',
  args: Type.Object(
    {
      by: Type.Enum(GROUP_NAMES),
      ...period,
      agent: agentArgument,
      environment: name('Only runs in this environment.'),
      release: name('Only runs of this release.'),
    },
    { additionalProperties: false },
  ),
  async run({ by, agent, since = DEFAULT_AGE, until, ...filter }, { api, answer, clock }) {
    const times = timesOf({ since, until }, clock);
    const rows = await GROUPS[by](api, { ...filter, ...times, ...(await agentIdOf(agent, api)) });
    const sorted = rows.toSorted((a, b) => (b.cost ?? 0) - (a.cost ?? 0));
    const total = rows.reduce((sum, { cost }) => sum + (cost ?? 0), 0);
    answer.line(words(`from ${times.start_time ?? since}`, `${costText(total)} in all groups below`));
    const shown = answer.list(sorted, ({ key, cost, tokens, count }) =>
      words(
        key,
        cost === null ? 'no cost' : `${costText(cost)} (${shareText(cost, total)})`,
        tokenText(tokens),
        count,
      ),
    );
    if (rows.length === 0) answer.note('There are no runs in this period.');
    if (shown < rows.length) answer.note(`${shown} of ${rows.length} groups are shown.`);
    const [first] = sorted;
    if (by === 'model' && first)
      answer.note('Next: what_if_model compares the price of a model with another one.');
    else if (first)
      answer.next('search_runs', { sort: 'total_cost_usd', since }, 'lists the most expensive runs.');
  },
});

const whatIf = defineTool({
  name: 'what_if_model',
  title: 'Price with another model',
  description: 'What the calls of a model would have cost with another model, by their real tokens.',
  args: Type.Object(
    {
      model: Type.String({ minLength: 1, maxLength: 1024, description: 'Model that was called.' }),
      as: Type.String({ minLength: 1, maxLength: 1024, description: 'The other model.' }),
      agent: agentArgument,
      ...period,
    },
    { additionalProperties: false },
  ),
  async run({ agent, since, until, ...models }, { api, answer, clock }) {
    const query = { ...models, ...timesOf({ since, until }, clock), ...(await agentIdOf(agent, api)) };
    showPrice(await api.call(readWhatIf, { query }), answer);
  },
});

const NO_PRICE = {
  no_prices: 'No pipeline has prices: add the processor cost.',
  unknown_model: 'The price table has no such model: check the name, or add it to the processor cost.',
  certain_providers: 'The price table has prices of this model for certain providers only.',
} as const;

function showPrice(
  { model, as, reason, repriced }: OperationAnswer<typeof readWhatIf>,
  answer: Parameters<Tool['run']>[1]['answer'],
): void {
  if (repriced === null) {
    answer.note(reason === null ? 'There is no price.' : NO_PRICE[reason]);
    return;
  }
  const { calls, both_calls, both_cost, both_repriced_cost, total_cost, repriced_cost, repriced_calls } =
    repriced;
  answer.line(words(`${oneLine(model ?? '', 100)}: ${calls} calls`, costText(total_cost) ?? 'no cost'));
  answer.line(
    words(
      `with ${oneLine(as, 100)}: ${costText(repriced_cost) ?? 'no cost'}`,
      `${repriced_calls} calls can be priced`,
    ),
  );
  if (both_calls > 0 && both_cost !== null && both_repriced_cost !== null)
    answer.line(
      words(
        `the same ${both_calls} calls: ${costText(both_cost)} and ${costText(both_repriced_cost)}`,
        both_cost > 0 && `${figure((100 * (both_repriced_cost - both_cost)) / both_cost)}% change`,
      ),
    );
  const leftOut = Object.entries(repriced.left_out).filter(([, count]) => count > 0);
  if (leftOut.length > 0)
    answer.line(`not priced: ${leftOut.map(([why, count]) => `${count} ${why}`).join(', ')}`);
  if (calls === 0)
    answer.note('The model has no calls in this period: cost_by with by "model" lists models.');
  else answer.note('An estimate: another model would count, answer and cache differently.');
}

export const costTools: readonly Tool[] = [showAgents, costBy, whatIf];
