import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Exporter, PassOn } from '../../../src/component/factory.js';
import { balanceExporter } from '../../../src/exporters/balance/factory.js';
import type { LogsBatch } from '../../../src/signal/batch.js';
import { componentSettings } from '../../support/component-settings.js';
import { aTrace } from '../../support/run-records.js';

const RUNS = Array.from({ length: 3000 }, () => randomUUID());
const CONTEXT = { receivedAt: 0 };

/** @returns the name of the pipeline that each run goes to */
async function spread(names: readonly string[], signal: 'traces' | 'logs' = 'traces') {
  const chosen = new Map<string, string>();
  const passOn: PassOn = async (_signal, { items }, { parts }) => {
    for (const { pipelines, positions } of parts)
      for (const position of positions)
        chosen.set(RUNS[position] ?? '', pipelines.join().replace(/.*\//, ''));
    return { accepted: items.length, refused: [] };
  };
  const pipelines = names.map((name) => `${signal}/${name}`);
  const exporter: Exporter = balanceExporter.create({
    ...componentSettings('balance'),
    config: { pipelines },
    passOn,
  });
  const runs = RUNS.map((trace_id) => aTrace(0, { trace_id }));
  if (signal === 'traces') await exporter.inputs.traces?.consume({ tenant: 'a', items: runs }, CONTEXT);
  else
    await exporter.inputs.logs?.consume(
      { tenant: 'a', items: RUNS.map((trace_id) => ({ trace_id })) } as unknown as LogsBatch,
      CONTEXT,
    );
  return new Map([...chosen].sort());
}

void t.test('spreads runs evenly, and only those of a removed gateway move', async (t) => {
  const all = await spread(['g-0', 'g-1', 'g-2']);
  for (const name of ['g-0', 'g-1', 'g-2']) {
    const share = [...all.values()].filter((chosen) => chosen === name).length / RUNS.length;
    t.ok(share > 0.28 && share < 0.39, `${name}: ${share}`);
  }
  t.strictSame(await spread(['g-2', 'g-0', 'g-1']), all, 'in any order');
  t.strictSame(await spread(['g-0', 'g-1', 'g-2'], 'logs'), all, 'log records go where their run goes');
  const left = await spread(['g-0', 'g-2']);
  for (const [run, name] of all) if (name !== 'g-1') t.equal(left.get(run), name);
});
