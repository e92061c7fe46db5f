/** As in `tables.ts`: the book of writes, and the names of agents. */
export interface WriteTables {
  writes: WriteTable;
  usage_months: UsageMonthTable;
  /** The same by day, without what may come. */
  usage_days: { store: string; tenant: number; day: number; settled: number };
  numbered_agents: NumberedAgentTable;
  named_batches: NamedBatchTable;
}

/** Writes to a store of telemetry, until some time after they have ended. */
interface WriteTable {
  /** Grows with the commits. */
  number: number;
  store: string;
  owner: string;
  /** From 1, one more each time it is taken over. */
  token: number;
  expires_at: number;
  /** Null until it takes one. */
  first_ticket: number | null;
  /** Null while it is under way. */
  ended_at: number | null;
  /** JSON: of each user its number, and the traces behind it. Empty once it has ended. */
  traces: string;
  /** JSON: those that were taken. */
  charges: string;
}

/** The items of a user that were counted in a month. */
interface UsageMonthTable {
  store: string;
  tenant: number;
  month: number;
  settled: number;
  /** What writes under way may add. */
  charged: number;
}

/** Batches to which their senders gave names. */
interface NamedBatchTable {
  store: string;
  tenant: number;
  name: string;
  noted_at: number;
  /** The newest write of it; null while that is being noted. */
  write_number: number | null;
  /** Null until it was written. */
  written_at: number | null;
  /** Positions, with commas between. */
  refused: string;
}

interface NumberedAgentTable {
  number: number;
  store: string;
  tenant: number;
  id: string;
  name: string;
  /** Stands for the name in the index. */
  name_key: string;
  created_at: number | null;
}
