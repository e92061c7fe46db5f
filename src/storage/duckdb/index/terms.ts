import { SEVERITIES, type Severity } from '../../../signal/log-record.js';
import type { Connection } from '../files/connection.js';

/**
 * The terms by which log records are found: a token, the service, the severity, the trace. A term is stored as 64
 * bits of the MD5 of a text that contains its tenant and kind: a collision of two terms in a store is not expected below
 * thousands of millions of terms.
 */
export type TermKind = 'token' | 'service' | 'severity' | 'trace';

const KIND_CODES: Readonly<Record<TermKind, string>> = {
  token: 'w',
  service: 's',
  severity: 'l',
  trace: 't',
};

export interface Term {
  readonly kind: TermKind;
  /** In the form that {@link termHash} is given. */
  readonly value: string;
}

/** The hash of a term, in SQL. @param value an expression for a text */
export function termHash(tenant: string, kind: TermKind, value: string): string {
  return `md5_number_lower(concat(${tenant}, '${KIND_CODES[kind]}', ${value}))`;
}

export function severityTerm(severity: Severity): Term {
  return { kind: 'severity', value: String(SEVERITIES.indexOf(severity)) };
}

/** The hashes of a user's terms, as decimal digits. */
export async function hashesOf(
  connection: Connection,
  tenant: number,
  terms: readonly Term[],
): Promise<string[]> {
  const hashes = terms.map(({ kind }, i) => `${termHash(`${tenant}`, kind, `$${i + 1}`)}::VARCHAR AS h${i}`);
  const [row] = await connection.rows(
    `SELECT ${hashes.join(', ')}`,
    terms.map(({ value }) => value),
  );
  return terms.map((_, i) => String(row?.[`h${i}`]));
}
