import { Command } from 'commander';
import type { Static } from 'typebox';
import type { AlertJson } from '../api/resources/alerts/alert-schema.js';
import { testAlert } from '../api/resources/alerts/alert-test.js';
import { listAlerts } from '../api/resources/alerts/alerts.js';
import { ApiClient, withApiOptions, type ApiOptions } from './api-client.js';
import { counted } from '../api/support/counted.js';
import type { CliIo } from './io.js';
import { readId } from './read-id.js';
import { type Column, formatTable, showJson, showList } from './table.js';

interface Options extends ApiOptions {
  readonly json?: boolean;
}

type Trial = Static<(typeof testAlert.responses)[200]>;
type TriedCondition = Trial['conditions'][number];

const COLUMNS: readonly Column<AlertJson>[] = [
  { title: 'id', show: (alert) => alert.id },
  { title: 'name', show: (alert) => alert.name },
  { title: 'type', show: (alert) => alert.type },
  { title: 'agent', show: (alert) => (alert.all_agents ? '(all)' : alert.agent_name) },
  { title: 'service', show: (alert) => alert.target_service },
  { title: 'threshold', show: ({ type, threshold }) => (type === 'composite' ? null : threshold) },
  { title: 'cooldown', show: (alert) => `${alert.cooldown_minutes} min` },
  { title: 'channel', show: (alert) => alert.channel },
  { title: 'active', show: (alert) => (alert.is_active ? 'yes' : 'no') },
  { title: 'last fired', show: (alert) => alert.last_fired_at },
];

const CONDITION_COLUMNS: readonly Column<TriedCondition>[] = [
  { title: 'type', show: ({ type }) => type },
  { title: 'metric', show: ({ metric_name }) => metric_name ?? null },
  { title: 'operator', show: ({ operator }) => operator ?? 'gt' },
  { title: 'threshold', show: ({ threshold, value }) => threshold ?? value ?? null },
  { title: 'observed', show: ({ observed }) => observed },
  { title: 'met', show: ({ met }) => (met ? 'yes' : 'no') },
];

const VERDICTS: Readonly<Record<Trial['verdict'], string>> = {
  met: 'Met: the alert fires now, unless it is paused, in its cooldown, or has already fired for this.',
  not_met: 'Not met: the alert does not fire.',
  no_data: 'No data: the alert does not fire.',
};

const NOT_EVALUATED = 'This daemon does not evaluate alerts: add the exporter "alerts" to a traces pipeline.';

/** `jackdaw alerts`: uses the API of a running daemon. */
export function alertsCommand(io: CliIo): Command {
  const command = new Command('alerts').description('List and evaluate the alerts of the user of the key.');

  withApiOptions(command.command('list').description('List all alerts.'))
    .option('--json', 'print JSON')
    .action(async (options: Options) => {
      const client = await ApiClient.open(options, io);
      const alerts = await client.call(listAlerts);
      showList(io, alerts, { ...options, columns: COLUMNS, none: 'There are no alerts.' });
    });

  withApiOptions(
    command
      .command('test')
      .description('Evaluate an alert now and show the result. It does not fire, and nobody is notified.'),
  )
    .argument('<id>', 'id of the alert', readId)
    .option('--json', 'print JSON')
    .action(async (id: string, options: Options) => {
      const client = await ApiClient.open(options, io);
      const trial = await client.call(testAlert, { params: { alert_id: id } });
      if (options.json === true) {
        showJson(io, trial);
        return;
      }
      io.out(formatTable(CONDITION_COLUMNS, trial.conditions));
      io.out(`${counted(trial.sample_count, 'sample')} from ${trial.window.from} to ${trial.window.to}.`);
      io.out(VERDICTS[trial.verdict]);
      if (!trial.is_evaluated) io.err(NOT_EVALUATED);
    });

  return command;
}
