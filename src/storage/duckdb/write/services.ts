import { SERVICES } from '../../schema/sum-tables.js';
import { selectList } from '../../schema/table.js';
import type { Connection } from '../files/connection.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { objectRows, type Rows } from './rows.js';

/** Maximum names per user, at some 150 bytes of memory each. */
const MAX_SERVICES_OF_TENANT = 50_000;
/** The name that counts all further names of such a user. */
const OTHER_SERVICES = '(other)';

interface Service {
  readonly node_no: number;
  readonly name: string;
  readonly tenant: number;
}

/** The numbers of the service map node names of all users, in memory. */
export class Services {
  readonly #names = new Map<number, string>();
  readonly #tenants = new Map<number, Map<string, number>>();
  /** Added since the last commit. */
  #added: Service[] = [];
  #lastNumber = 0;
  readonly #most: number;

  constructor(most = MAX_SERVICES_OF_TENANT) {
    this.#most = most;
  }

  async load(connection: Connection, capture: Capture): Promise<void> {
    this.#lastNumber = capture.lastNumber;
    const rows = await connection.rows(
      `SELECT tenant, ${selectList(SERVICES.wire)} FROM ${relation(capture, SERVICES)}`,
    );
    for (const { tenant, node_no: number, name } of rows) {
      this.#put({ tenant: Number(tenant), node_no: Number(number), name: String(name) });
    }
  }

  /** The number of a name; assigns one to a new name. */
  number(tenant: number, name: string): number {
    const number = this.find(tenant, name);
    if (number !== undefined) return number;
    if (this.#isFull(tenant) && name !== OTHER_SERVICES) return this.number(tenant, OTHER_SERVICES);
    const service = { tenant, name, node_no: this.#lastNumber + 1 };
    this.#put(service);
    this.#added.push(service);
    return service.node_no;
  }

  /** The number of a name; undefined if {@link number} would assign one. */
  find(tenant: number, name: string): number | undefined {
    const known = this.#tenants.get(tenant);
    return known?.get(name) ?? (this.#isFull(tenant) ? known?.get(OTHER_SERVICES) : undefined);
  }

  name(number: number): string {
    return this.#names.get(number) ?? '';
  }

  /** Rows for the names added since the last commit. */
  rows(seq: number): Rows[] {
    return objectRows(
      SERVICES,
      this.#added.map((service) => ({ seq, ...service })),
    );
  }

  committed(): void {
    this.#added = [];
  }

  rollback(): void {
    for (const { tenant, name, node_no: number } of this.#added) {
      this.#names.delete(number);
      this.#tenants.get(tenant)?.delete(name);
    }
    this.#added = [];
  }

  #isFull(tenant: number): boolean {
    return (this.#tenants.get(tenant)?.size ?? 0) >= this.#most;
  }

  #put({ tenant, name, node_no: number }: Service): void {
    let known = this.#tenants.get(tenant);
    if (known === undefined) {
      known = new Map();
      this.#tenants.set(tenant, known);
    }
    known.set(name, number);
    this.#names.set(number, name);
    this.#lastNumber = Math.max(this.#lastNumber, number);
  }
}
