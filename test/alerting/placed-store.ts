import type { EvaluatedRules } from '../../src/alerting/evaluator-options.js';
import type {
  AlertChange,
  AlertRule,
  DecidedFiring,
  Resolution,
} from '../../src/storage/contracts/alerts.js';
import type { SqlControlStore } from '../../src/storage/control/sql-control-store.js';
import { aUser } from '../storage/duckdb/meta-records.js';
import { USER } from './alert-samples.js';
import { FixedStats, SOURCE } from './fixed-stats.js';

/** The dependencies of an evaluator: a real control store whose calls can be delayed or fail, and stats set by a test. */
export class PlacedStore extends FixedStats {
  /** Written firings. */
  readonly firings: DecidedFiring[] = [];
  readonly resolutions: Resolution[] = [];
  lastBeat: number | null = null;
  watchers = 0;
  /** Whether hints of the control store are delivered. */
  hints = true;
  /** Identity of the store of the stats. */
  readonly source: string;
  readonly #control: SqlControlStore;

  constructor(control: SqlControlStore, source = SOURCE) {
    super();
    this.source = source;
    this.#control = control;
  }

  /** A store with the user of all rules. */
  static async of(control: SqlControlStore, source?: string): Promise<PlacedStore> {
    if ((await control.accounts.findUser(USER)) === null)
      await control.accounts.createUser(aUser({ id: USER }));
    return new PlacedStore(control, source);
  }

  /** The control store as the evaluator sees it. */
  get evaluated(): EvaluatedRules {
    const { alerts, watch } = this.#control;
    return {
      alerts: {
        follow: async (since) => {
          await this.enter('follow');
          return await alerts.follow(since);
        },
        recordFirings: async (firings) => {
          await this.enter('recordFirings');
          const written = await alerts.recordFirings(firings);
          this.firings.push(...firings.filter((_, at) => written[at]));
          return written;
        },
        recordResolutions: async (resolutions) => {
          await this.enter('recordResolutions');
          const written = await alerts.recordResolutions(resolutions);
          this.resolutions.push(...resolutions.filter((_, at) => written[at]));
          return written;
        },
        beat: async (source, now) => {
          await this.enter('beat');
          const last = await alerts.beat(source, now);
          this.lastBeat = now;
          return last;
        },
      },
      watch: {
        watch: (topic, listener) => {
          const unwatch = watch.watch(topic, () => {
            if (this.hints) listener();
          });
          this.watchers++;
          return () => {
            unwatch();
            this.watchers--;
          };
        },
      },
    };
  }

  /** A user creates a rule. */
  async add({ userId, alert }: AlertRule): Promise<void> {
    const outcome = await this.#control.alerts.create(userId, alert, Infinity);
    if (outcome !== 'created') throw new Error(`the rule was not created: ${outcome}`);
  }

  async change({ userId, alert }: AlertRule, change: AlertChange, now = 0): Promise<void> {
    if ((await this.#control.alerts.update(userId, alert.id, change, now)) === null)
      throw new Error('there is no such rule');
  }

  async delete({ userId, alert }: AlertRule): Promise<void> {
    await this.#control.alerts.delete(userId, alert.id);
  }

  /** The current state of a rule. */
  async read({ userId, alert }: AlertRule): Promise<AlertRule> {
    const rule = await this.#control.alerts.read(userId, alert.id);
    if (rule === null) throw new Error('the rule is gone');
    return rule;
  }

  /** Another process fires. */
  async fireElsewhere(firing: DecidedFiring): Promise<void> {
    await this.#control.alerts.recordFirings([firing]);
  }

  async resolveElsewhere(resolution: Resolution): Promise<void> {
    await this.#control.alerts.recordResolutions([resolution]);
  }
}
