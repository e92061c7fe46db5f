import type { AlertSecrets, StoredAlertSecret } from '../contracts/alerts.js';
import type { ControlDatabase } from './control-database.js';

/** `AlertSecrets`, one row per user. */
export class AlertSecretRows implements AlertSecrets {
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
