import type { Clock } from '../../component/telemetry.js';
import { uuidV7 } from '../../signal/ids.js';
import { systemClock } from '../../telemetry/system-clock.js';
import type { Accounts, AuditLog, Logins, Organizations, Views } from '../contracts/accounts.js';
import type { DeliveryQueue, Endpoints } from '../contracts/deliveries.js';
import type { AlertRules, AlertSecrets, Notices } from '../contracts/alerts.js';
import type { ControlPlane } from '../contracts/control-plane.js';
import type { ControlTransfer } from '../contracts/transfer.js';
import type { EventLog, FactIntake, FactNews, FactSource } from '../contracts/events.js';
import type { Leases, NumberedAgents, Terms, Watch, WriteBook } from '../contracts/coordination.js';
import type { Prompts } from '../contracts/prompts.js';
import { AccountRows } from './account-rows.js';
import { AgentNumberRows } from './agent-number-rows.js';
import { AlertRuleRows } from './alert-rule-rows.js';
import { AlertSecretRows } from './alert-secret-rows.js';
import { AuditRows } from './audit-rows.js';
import type { ControlDatabase } from './control-database.js';
import { DeliveryRows } from './delivery-rows.js';
import { EndpointRows } from './endpoint-rows.js';
import { EventLogRows } from './event-log-rows.js';
import { FactPump } from './fact-pump.js';
import { LeaseRows } from './lease-rows.js';
import { LoginRows } from './login-rows.js';
import { NoticeRows } from './notice-rows.js';
import { OrganizationRows } from './organization-rows.js';
import { PromptRows } from './prompt-rows.js';
import { TermsRows } from './terms-rows.js';
import { TransferRows } from './transfer-rows.js';
import { ViewRows } from './view-rows.js';
import { WriteBookRows } from './write-book-rows.js';

/** All contracts of the control plane, over one database. */
export class ControlStore implements ControlPlane {
  readonly accounts: Accounts;
  readonly logins: Logins;
  readonly organizations: Organizations;
  readonly prompts: Prompts;
  readonly endpoints: Endpoints;
  readonly deliveries: DeliveryQueue;
  readonly events: EventLog;
  readonly leases: Leases;
  readonly writes: WriteBook;
  readonly agents: NumberedAgents;
  readonly terms: Terms;
  readonly alerts: AlertRules;
  readonly notices: Notices;
  readonly views: Views;
  readonly alertSecrets: AlertSecrets;
  readonly audit: AuditLog;
  readonly transfer: ControlTransfer;
  readonly watch: Watch;
  readonly directory: string | null;
  readonly #database: ControlDatabase;
  readonly #clock: Clock;
  readonly #intakes = new Set<FactIntake>();

  /**
   * @param database closed together with this
   * @param directory of its files; null where it has none
   */
  constructor(database: ControlDatabase, directory: string | null = null, clock: Clock = systemClock) {
    this.#database = database;
    this.#clock = clock;
    this.directory = directory;
    this.watch = database.watch;
    this.accounts = new AccountRows(database);
    this.logins = new LoginRows(database);
    this.organizations = new OrganizationRows(database);
    this.prompts = new PromptRows(database);
    this.endpoints = new EndpointRows(database);
    this.deliveries = new DeliveryRows(database);
    this.events = new EventLogRows(database);
    this.leases = new LeaseRows(database);
    this.writes = new WriteBookRows(database);
    this.agents = new AgentNumberRows(database);
    this.terms = new TermsRows(database);
    this.alerts = new AlertRuleRows(database);
    this.notices = new NoticeRows(database);
    this.views = new ViewRows(database);
    this.alertSecrets = new AlertSecretRows(database);
    this.audit = new AuditRows(database);
    this.transfer = new TransferRows(database);
  }

  async identity(): Promise<string> {
    const select = () =>
      this.#database.read((db) => db.selectFrom('identity').select('id').executeTakeFirst());
    const known = await select();
    if (known !== undefined) return known.id;
    await this.#database.transaction(async (tx) => {
      await tx
        .insertInto('identity')
        .values({ row: 1, id: uuidV7(Date.now()) })
        .onConflict((conflict) => conflict.column('row').doNothing())
        .execute();
    });
    // When several ask first at the same time, one of their ids is kept.
    const kept = await select();
    if (kept === undefined) throw new Error('the identity was written and is not there');
    return kept.id;
  }

  async takeFacts(source: FactSource, news: FactNews): Promise<FactIntake> {
    const { events, accounts } = this;
    const pump = new FactPump({ source, events, accounts, clock: this.#clock, news });
    this.#intakes.add(pump);
    return {
      stop: async () => {
        this.#intakes.delete(pump);
        await pump.stop();
      },
    };
  }

  /** @throws Error that says what is wrong with the database, in words for its owner */
  async check(): Promise<void> {
    await this.#database.check();
  }

  /** In bytes. @throws ConsumeError */
  async size(): Promise<number> {
    return await this.#database.read((database) => this.#database.dialect.size(database));
  }

  /** Ends intakes and hints, then gives the database back. May be called twice. */
  async close(): Promise<void> {
    await Promise.all([...this.#intakes].map((intake) => intake.stop()));
    await this.#database.close();
  }
}
