import { RUN_KINDS } from '../../../signal/span.js';
import { itemAt } from '../../../signal/checked.js';
import { NAMED_BATCHES } from '../../schema/named-batches-table.js';
import { USAGE } from '../../schema/sum-tables.js';
import type { ExportedRow, TransferBase } from '../../contracts/transfer.js';
import type { Append } from '../write/change.js';
import { objectRows, type Rows } from '../write/rows.js';
import { agentRows } from '../write/commit-rows.js';
import type { Agent, Agents } from '../stats/agents.js';

/** The data that a restore writes before any run: names of agents, counts for quotas, names of batches. */
export class RestoredBase implements Append {
  readonly bytes = 0;
  readonly weight = 0;
  readonly items = 0;
  readonly counted = null;
  readonly buffers: readonly ArrayBuffer[] = [];
  readonly #base: TransferBase;
  readonly #agents: Agents;

  constructor(base: TransferBase, agents: Agents) {
    this.#base = base;
    this.#agents = agents;
  }

  rows(seq: number): readonly Rows[] {
    const { agents, usage, batches } = this.#base;
    return [
      ...agentRows(seq, agents.map(agentOf)),
      ...objectRows(
        USAGE,
        usage.map((row) => ({
          seq,
          tenant: Number(row['tenant']),
          month: Number(row['period']),
          events: Number(row['items']),
        })),
      ),
      ...objectRows(
        NAMED_BATCHES,
        batches.map((row) => ({
          seq,
          tenant: Number(row['tenant']),
          batch: String(row['batch']),
          received_at: Number(row['received_at']),
          refused: row['refused'] === null ? null : String(row['refused']),
        })),
      ),
    ];
  }

  /** The runs that follow name these agents. Counts and names of batches are read at the next start. */
  committed(): void {
    for (const row of this.#base.agents) this.#agents.restore(agentOf(row));
  }

  rolledBack(): void {
    // Nothing was changed.
  }
}

function agentOf(row: ExportedRow): Agent {
  return {
    tenant: Number(row['tenant']),
    agent_no: Number(row['agent_no']),
    id: String(row['id']),
    name: String(row['name']),
    kind: itemAt(RUN_KINDS, Number(row['kind'])),
    created_at: row['created_at'] === null ? null : Number(row['created_at']),
  };
}
