/** The write-intent log and agent names, described as in `tables.ts`. */
export interface WriteTables {
  writes: WriteTable;
  usage_months: UsageMonthTable;
  /** The same by day, without charges. */
  usage_days: { store: string; tenant: number; day: number; settled: number };
  numbered_agents: NumberedAgentTable;
  named_batches: NamedBatchTable;
}

/** Writes to a telemetry store, kept for some time after they end. */
interface WriteTable {
  /** Increases with the commits. */
  number: number;
  store: string;
  owner: string;
  /** From 1, incremented by each takeover. */
  token: number;
  expires_at: number;
  /** Null before its first fence. */
  first_ticket: number | null;
  /** Null while the write is in progress. */
  ended_at: number | null;
  /** JSON: user numbers with their traces. Empty after the write has ended. */
  traces: string;
  /** JSON: the accepted charges. */
  charges: string;
}

/** A user's counted items in a month. */
interface UsageMonthTable {
  store: string;
  tenant: number;
  month: number;
  settled: number;
  /** Items charged for writes in progress. */
  charged: number;
}

/** Batches named by their senders. */
interface NamedBatchTable {
  store: string;
  tenant: number;
  name: string;
  noted_at: number;
  /** Its newest write; null while that is being recorded. */
  write_number: number | null;
  /** Null before it is written. */
  written_at: number | null;
  /** Positions, separated by commas. */
  refused: string;
}

interface NumberedAgentTable {
  number: number;
  store: string;
  tenant: number;
  id: string;
  name: string;
  /** The index key of the name. */
  name_key: string;
  created_at: number | null;
}
