import { Type } from 'typebox';
import { listAgents } from '../../../api/resources/agents.js';
import { readGroups } from '../../../api/resources/run-groups.js';
import { readWhatIf } from '../../../api/resources/what-if.js';
import { counted } from '../../../api/support/counted.js';
import type { OperationAnswer } from '../../../http/operation-call.js';
import { GROUP_FIELDS, GROUP_SORTS } from '../../../storage/contracts/run-groups.js';
import {
  type Answer,
  costText,
  durationText,
  figure,
  oneLine,
  shareText,
  tokenText,
  words,
} from '../answer.js';
import {
  agentIdOf,
  defineTool,
  limitArgument,
  period,
  runArguments,
  runQuery,
  textArgument,
  timesOf,
  type Tool,
} from '../tool.js';

const showAgents = defineTool({
  name: 'list_agents',
  title: 'List agents',
  description: 'Agents with runs, success, failures, cost and last run; the most recently active first.',
  args: Type.Object(
    {
      query: textArgument('Part of the name.'),
      environment: textArgument('Only runs in this environment.'),
      release: textArgument('Only runs of this release.'),
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
        counted(agent.total_runs, 'run'),
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

type Groups = OperationAnswer<typeof readGroups>;

const costBy = defineTool({
  name: 'cost_by',
  title: 'Cost by group',
  description:
    'Cost, runs, failures and durations by agent, model, user, tag or another field, each compared with the period before, and what got clearly worse; by default of the last 24 hours. Groups by model count calls instead of runs; only agent, times, environment, release, agent_version and repository can select calls.',
  args: Type.Object(
    {
      by: Type.Enum(GROUP_FIELDS),
      ...runArguments,
      sort: Type.Optional(
        Type.Enum(GROUP_SORTS, { description: 'regression: groups that got worse come first.' }),
      ),
      limit: limitArgument(100, 20),
    },
    { additionalProperties: false },
  ),
  async run({ by, limit, sort, ...filter }, context) {
    const { api, answer } = context;
    const query = { ...(await runQuery(filter, context)), group_by: by, limit, ...(sort && { sort }) };
    const found = await api.call(readGroups, { query });
    const { groups, total, previous_total, others, count } = found;
    answer.line(`${found.start_time} to ${found.end_time}; in parentheses the period before`);
    answer.line(words('all', ...totalsText({ total, previous_total }, by)));
    const shown = answer.list(groups, (group) => {
      const key = group.key === null ? '(none)' : oneLine(group.key, 100);
      const worse = group.regressions.length > 0 && `WORSE: ${group.regressions.join(', ')}`;
      return words(
        group.name === null ? key : `${oneLine(group.name, 100)} ${key}`,
        ...totalsText(group, by),
        worse,
      );
    });
    if (others !== null) answer.line(words('all others', ...totalsText(others, by)));
    if (groups.length === 0) answer.note('There are no runs in this period.');
    if (shown < count) answer.note(`${shown} of ${count} groups are shown.`);
    if (by === 'model') answer.note('Next: what_if_model compares the price of a model with another one.');
    else
      answer.next(
        'search_runs',
        { ...filter, since: found.start_time, until: found.end_time, sort: 'total_cost_usd' },
        'lists the most expensive runs.',
      );
  },
});

/** Figures of a group, with those of the period before in parentheses if they differ. */
function totalsText(
  { total, previous_total: before }: Pick<Groups, 'total' | 'previous_total'>,
  by: Groups['group_by'],
): readonly (string | undefined)[] {
  const both = (now: string | undefined, then: string | undefined): string | undefined =>
    now === then ? now : `${now ?? 'none'} (${then ?? 'none'})`;
  const failed = ({ failed: count, runs }: typeof total) =>
    runs === 0 || total.failed + before.failed === 0 ? undefined : `${shareText(count, runs)} failed`;
  const p95 = ({ p95_ms }: typeof total) => durationText(p95_ms);
  const unit = by === 'model' ? 'call' : 'run';
  const slowest = both(p95(total), p95(before));
  return [
    both(costText(total.cost), costText(before.cost)),
    total.runs === before.runs ? counted(total.runs, unit) : `${total.runs} (${before.runs}) ${unit}s`,
    total.priced_runs < total.runs ? `${total.runs - total.priced_runs} without a cost` : undefined,
    tokenText(total.tokens),
    both(failed(total), failed(before)),
    slowest === undefined ? undefined : `p95 ${slowest}`,
  ];
}

const whatIf = defineTool({
  name: 'what_if_model',
  title: 'Price with another model',
  description: 'What the calls of a model would have cost with another model, by their real tokens.',
  args: Type.Object(
    {
      model: Type.String({ minLength: 1, maxLength: 1024, description: 'Model that was called.' }),
      as: Type.String({ minLength: 1, maxLength: 1024, description: 'The other model.' }),
      agent: runArguments.agent,
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
  unknown_model:
    'The price table lacks the other model: check its name, or ask the user to add its price to the processor cost.',
  certain_providers: 'The price table has prices of this model for certain providers only.',
} as const;

function showPrice(
  { model, as, reason, repriced }: OperationAnswer<typeof readWhatIf>,
  answer: Answer,
): void {
  if (repriced === null) {
    answer.note(reason === null ? 'There is no price.' : NO_PRICE[reason]);
    return;
  }
  const { calls, both_calls, both_cost, both_repriced_cost, total_cost, repriced_cost, repriced_calls } =
    repriced;
  answer.line(
    words(`${oneLine(model ?? '', 100)}: ${counted(calls, 'call')}`, costText(total_cost) ?? 'no cost'),
  );
  answer.line(
    words(
      `with ${oneLine(as, 100)}: ${costText(repriced_cost) ?? 'no cost'}`,
      `${counted(repriced_calls, 'call')} can be priced`,
    ),
  );
  if (both_calls > 0 && both_cost !== null && both_repriced_cost !== null)
    answer.line(
      words(
        `the same ${counted(both_calls, 'call')}: ${costText(both_cost)} and ${costText(both_repriced_cost)}`,
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
