import type { Clock } from '../../component/telemetry.js';
import { uuidV7 } from '../../signal/ids.js';
import { systemClock } from '../../telemetry/system-clock.js';
import type { ControlStore } from '../contracts/control-store.js';
import type { FactIntake, IntakeListener, OutboxSource } from '../contracts/events.js';
import type { Watch, PublishedSettings, SettingsBoard } from '../contracts/coordination.js';
import { AccountRows } from './account-rows.js';
import { AgentNumberRows } from './agent-number-rows.js';
import { AlertRuleRows } from './alert-rule-rows.js';
import { AuditRows } from './audit-rows.js';
import type { ControlDatabase } from './control-database.js';
import { DeliveryRows } from './delivery-rows.js';
import { EndpointRows } from './endpoint-rows.js';
import { EventLogRows } from './event-log-rows.js';
import { OutboxRelay } from './outbox-relay.js';
import { LeaseRows } from './lease-rows.js';
import { LoginRows } from './login-rows.js';
import { NoticeRows } from './notice-rows.js';
import { OrganizationRows } from './organization-rows.js';
import { PromptLabelRows } from './prompt-label-rows.js';
import { PromptRows } from './prompt-rows.js';
import { TransferRows } from './transfer-rows.js';
import { ViewRows } from './view-rows.js';
import { WriteIntentRows } from './write-intent-rows.js';
import type { AlertSecrets, StoredAlertSecret } from '../contracts/alerts.js';
import { MICROS_PER_DAY } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';

/** Holds the database for the field initializers of {@link SqlControlStore}. */
class OverDatabase {
  protected readonly database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.database = database;
  }
}

/** All contracts of the control store over one database. */
export class SqlControlStore extends OverDatabase implements ControlStore {
  readonly accounts = new AccountRows(this.database);
  readonly logins = new LoginRows(this.database);
  readonly organizations = new OrganizationRows(this.database);
  readonly prompts = new PromptRows(this.database);
  readonly promptLabels = new PromptLabelRows(this.database);
  readonly endpoints = new EndpointRows(this.database);
  readonly deliveries = new DeliveryRows(this.database);
  readonly events = new EventLogRows(this.database);
  readonly leases = new LeaseRows(this.database);
  readonly writes = new WriteIntentRows(this.database);
  readonly agents = new AgentNumberRows(this.database);
  readonly settings = new SettingsRows(this.database);
  readonly alerts = new AlertRuleRows(this.database);
  readonly notices = new NoticeRows(this.database);
  readonly views = new ViewRows(this.database);
  readonly alertSecrets = new AlertSecretRows(this.database);
  readonly audit = new AuditRows(this.database);
  readonly transfer = new TransferRows(this.database);
  readonly watch: Watch = this.database.watch;
  readonly directory: string | null;
  readonly #clock: Clock;
  readonly #intakes = new Set<FactIntake>();

  /** @param database closed together with the store @param directory of its files; null if it has none */
  constructor(database: ControlDatabase, directory: string | null = null, clock: Clock = systemClock) {
    super(database);
    this.#clock = clock;
    this.directory = directory;
  }

  async identity(): Promise<string> {
    const select = () =>
      this.database.read((db) => db.selectFrom('identity').select('id').executeTakeFirst());
    const known = await select();
    if (known !== undefined) return known.id;
    await this.database.transaction(async (tx) => {
      await tx
        .insertInto('identity')
        .values({ row: 1, id: uuidV7(Date.now()) })
        .onConflict((conflict) => conflict.column('row').doNothing())
        .execute();
    });
    // Of concurrent first calls, one id is kept.
    const kept = await select();
    if (kept === undefined) throw new Error('the identity was written but cannot be read');
    return kept.id;
  }

  async takeFacts(source: OutboxSource, listener: IntakeListener): Promise<FactIntake> {
    const { events, accounts } = this;
    const relay = new OutboxRelay({ source, events, accounts, clock: this.#clock, listener });
    this.#intakes.add(relay);
    return {
      stop: async () => {
        this.#intakes.delete(relay);
        await relay.stop();
      },
    };
  }

  /** @throws Error that describes the problem of the database, for its owner */
  async check(): Promise<void> {
    await this.database.check();
  }

  /** In bytes. @throws ConsumeError */
  async size(): Promise<number> {
    return await this.database.read((database) => this.database.dialect.size(database));
  }

  /** Stops intakes and hints, then closes the database. May be called twice. */
  async close(): Promise<void> {
    await Promise.all([...this.#intakes].map((intake) => intake.stop()));
    await this.database.close();
  }
}

/** `AlertSecrets`, one row per user. */
class AlertSecretRows implements AlertSecrets {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async find(userId: string): Promise<StoredAlertSecret | null> {
    const row = await this.#database.read((db) =>
      db
        .selectFrom('alert_secrets')
        .select(['sealed_secret', 'created_at'])
        .where('user_id', '=', userId)
        .executeTakeFirst(),
    );
    return row ?? null;
  }

  async keep(userId: string, secret: StoredAlertSecret): Promise<StoredAlertSecret> {
    return await this.#database.transaction(async (tx) => {
      await tx
        .insertInto('alert_secrets')
        .values({ user_id: userId, ...secret })
        .onConflict((conflict) => conflict.column('user_id').doNothing())
        .execute();
      return await tx
        .selectFrom('alert_secrets')
        .select(['sealed_secret', 'created_at'])
        .where('user_id', '=', userId)
        .executeTakeFirstOrThrow();
    });
  }

  async rotate(userId: string, { sealed_secret, created_at }: StoredAlertSecret): Promise<void> {
    await this.#database.transaction(async (tx) => {
      await tx
        .insertInto('alert_secrets')
        .values({ user_id: userId, sealed_secret, created_at })
        .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ sealed_secret, created_at }))
        .execute();
    });
  }
}

/** Settings of dead processes are removed when settings that expire this much later are stored. */
const FORGOTTEN: Micros = MICROS_PER_DAY;

/** One row for each process that publishes. */
class SettingsRows implements SettingsBoard {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async publish(owner: string, terms: PublishedSettings, until: Micros): Promise<void> {
    const changed = { terms: JSON.stringify(terms), until };
    await this.#database.transaction(async (tx, notify) => {
      await tx
        .insertInto('terms')
        .values({ owner, ...changed })
        .onConflict((conflict) => conflict.column('owner').doUpdateSet(changed))
        .execute();
      await tx
        .deleteFrom('terms')
        .where('until', '<', until - FORGOTTEN)
        .execute();
      notify('terms');
    });
  }

  async withdraw(owner: string): Promise<void> {
    await this.#database.transaction(async (tx, notify) => {
      const removed = await tx.deleteFrom('terms').where('owner', '=', owner).executeTakeFirst();
      if (removed.numDeletedRows > 0n) notify('terms');
    });
  }

  async all(now: Micros): Promise<readonly PublishedSettings[]> {
    const rows = await this.#database.read((db) =>
      db.selectFrom('terms').select('terms').where('until', '>', now).orderBy('owner').execute(),
    );
    return rows.map(({ terms }) => JSON.parse(terms) as PublishedSettings);
  }
}
