import type { Micros } from '../../../signal/time.js';
import type { DueNotification, DueRequest, NotificationResult, SkipRequest } from '../../alert-notices.js';
import type {
  Alert,
  AlertChange,
  AlertEvent,
  AlertingTerms,
  AlertRule,
  AlertStore,
  CreatedAlert,
  Firing,
  Resolution,
  RuleChange,
} from '../../alert-store.js';
import type { AlertMethod } from '../store-thread.js';
import { DeliveryClient } from './delivery-client.js';

/** What alerts are evaluated by lies with telemetry. */
type OfMainFile = Omit<AlertStore, 'watchTelemetry' | 'takeTouched' | 'observe' | 'exampleTraces'>;

/** The alerts as the daemon's thread sees them: it asks the store thread, and tells of what changed. */
export abstract class AlertClient extends DeliveryClient implements OfMainFile {
  readonly #ruleListeners = new Set<(change: RuleChange) => void>();
  readonly #noticeListeners = new Set<() => void>();
  /** Users that were disabled meanwhile: a request of theirs may still be under way. */
  readonly #resting = new Set<string>();
  readonly #terms = new Set<AlertingTerms>();

  /** Calls a method of `AlertTables` in the store thread. */
  protected abstract alerts<T>(method: AlertMethod, ...args: unknown[]): Promise<T>;

  async listAlerts(userId: string): Promise<readonly Alert[]> {
    return await this.alerts('listAlerts', userId);
  }

  async createAlert(
    userId: string,
    alert: Alert,
    most: number,
  ): Promise<{ readonly outcome: CreatedAlert; readonly alert: Alert }> {
    const { outcome, rule } = await this.alerts<{ outcome: CreatedAlert; rule: AlertRule }>(
      'createAlert',
      userId,
      alert,
      most,
    );
    if (outcome === 'created') this.#tellOfRule(rule);
    return { outcome, alert: rule.alert };
  }

  async readAlert(userId: string, id: string): Promise<Alert | null> {
    return await this.alerts('readAlert', userId, id);
  }

  async updateAlert(
    userId: string,
    id: string,
    change: AlertChange,
    now: Micros,
  ): Promise<Alert | 'lacks_webhook_url' | null> {
    const changed = await this.alerts<AlertRule | 'lacks_webhook_url' | null>(
      'updateAlert',
      userId,
      id,
      change,
      now,
    );
    if (changed === null || changed === 'lacks_webhook_url') return changed;
    this.#tellOfRule(changed);
    return changed.alert;
  }

  async deleteAlert(userId: string, id: string): Promise<boolean> {
    const wasThere = await this.alerts<boolean>('deleteAlert', userId, id);
    if (wasThere) this.#tell({ kind: 'removed', alertId: id });
    return wasThere;
  }

  async listAlertEvents(
    userId: string,
    id: string,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly items: readonly AlertEvent[]; readonly count: number } | null> {
    return await this.alerts('listAlertEvents', userId, id, page);
  }

  async listRules(): Promise<readonly AlertRule[]> {
    return await this.alerts('listRules');
  }

  async readRule(userId: string, id: string): Promise<AlertRule | null> {
    return await this.alerts('readRule', userId, id);
  }

  watchRules(listener: (change: RuleChange) => void): () => void {
    this.#ruleListeners.add(listener);
    return () => this.#ruleListeners.delete(listener);
  }

  async recordFirings(firings: readonly Firing[]): Promise<readonly boolean[]> {
    const written = await this.alerts<readonly boolean[]>('recordFirings', firings);
    if (written.includes(true)) for (const listener of this.#noticeListeners) listener();
    return written;
  }

  async recordResolutions(resolutions: readonly Resolution[]): Promise<readonly boolean[]> {
    return await this.alerts('recordResolutions', resolutions);
  }

  async beatAlerts(now: Micros): Promise<Micros | null> {
    return await this.alerts('beatAlerts', now);
  }

  watchNotifications(listener: () => void): () => void {
    this.#noticeListeners.add(listener);
    return () => this.#noticeListeners.delete(listener);
  }

  async dueNotifications(
    request: DueRequest,
  ): Promise<{ readonly items: readonly DueNotification[]; readonly nextDueAt: Micros | null }> {
    return await this.alerts('dueNotifications', request);
  }

  async skipNotifications(request: SkipRequest): Promise<number> {
    return await this.alerts('skipNotifications', request);
  }

  async finishNotifications(results: readonly NotificationResult[]): Promise<void> {
    await this.alerts('finishNotifications', results);
  }

  announceAlerting(terms: AlertingTerms): () => void {
    // Two evaluators may announce the same terms: each is taken back by itself.
    const announced = { ...terms };
    this.#terms.add(announced);
    return () => this.#terms.delete(announced);
  }

  get alertingTerms(): AlertingTerms | null {
    return [...this.#terms].at(-1) ?? null;
  }

  /** A user was disabled or enabled: its rules rest from now on, or are watched again. */
  protected async tellOfUser(userId: string, isDisabled: boolean): Promise<void> {
    if (isDisabled) this.#resting.add(userId);
    else this.#resting.delete(userId);
    for (const rule of await this.alerts<readonly AlertRule[]>('listRulesOf', userId)) this.#tellOfRule(rule);
  }

  #tellOfRule(rule: AlertRule): void {
    const { id, is_active } = rule.alert;
    const isWatched = is_active && !this.#resting.has(rule.userId);
    this.#tell(isWatched ? { kind: 'put', rule } : { kind: 'removed', alertId: id });
  }

  #tell(change: RuleChange): void {
    for (const listener of this.#ruleListeners) listener(change);
  }
}
