import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { SecretBoxes } from '../../src/auth/secret-boxes.js';
import type { Receipt } from '../../src/component/consumer.js';
import type { Host } from '../../src/component/host.js';
import type { SenderOptions } from '../../src/delivery/senders/webhook/sender.js';
import { generateSecret } from '../../src/delivery/senders/webhook/signature.js';
import { webhookConfig } from '../../src/exporters/webhook/config.js';
import { WebhookExporter } from '../../src/exporters/webhook/webhook-exporter.js';
import { envelope, type EventRecord, type EventType } from '../../src/signal/event.js';
import { uuidV7 } from '../../src/signal/ids.js';
import type { SqlControlStore } from '../../src/storage/control/sql-control-store.js';
import { type DeliveryDetail, sealOwner } from '../../src/storage/contracts/deliveries.js';
import { componentSettings } from './component-settings.js';
import { openControlStore } from './control-store.js';
import { sectionConfig } from './section-config.js';
import { sendingHere } from './sending-here.js';
import { StatusHost } from './status-host.js';
import { testFolder } from './test-folder.js';
import { TickingClock } from './ticking-clock.js';
import { until } from './until.js';
import { AUTHORITY } from './webhook-certificates.js';

export interface WebhookServiceOptions {
  /** YAML of the exporter, merged over a configuration that allows 127.0.0.1. */
  readonly overlay?: string;
  /** Name resolution; 127.0.0.1 by default. */
  readonly resolve?: SenderOptions['resolve'];
  /** Storage of a stopped service, including its organization. */
  readonly place?: WebhookPlace;
}

/** A control store that outlives a service. */
export interface WebhookPlace {
  readonly directory: string;
  readonly clock: TickingClock;
  readonly control: SqlControlStore;
}

/** An endpoint of {@link WebhookService}. */
export interface TestEndpoint {
  readonly id: string;
  readonly secret: string;
}

/** The exporter over a real control store with one organization and one user. Its schedule has no jitter. */
export class WebhookService {
  readonly slug: string;
  readonly tenant: string;
  readonly place: WebhookPlace;
  readonly exporter: WebhookExporter;
  readonly settings: ReturnType<typeof componentSettings>;
  readonly statuses = new StatusHost();
  readonly secrets = new SecretBoxes({});

  private constructor(parts: Pick<WebhookService, 'slug' | 'tenant' | 'place' | 'exporter' | 'settings'>) {
    this.slug = parts.slug;
    this.tenant = parts.tenant;
    this.place = parts.place;
    this.exporter = parts.exporter;
    this.settings = parts.settings;
  }

  static async start(t: Test, options: WebhookServiceOptions = {}): Promise<WebhookService> {
    let end = async (): Promise<void> => undefined;
    // Before opening the control store, which is closed after earlier resources.
    t.teardown(() => end());
    const place = options.place ?? (await WebhookService.openPlace(t));
    const { clock } = place;
    const authority = join(place.directory, 'authority.pem');
    writeFileSync(authority, AUTHORITY);
    const base = `targets: { allow_cidrs: [127.0.0.1/32], ca_file: ${JSON.stringify(authority)} }`;
    const settings = componentSettings('webhook');
    const config = sectionConfig(webhookConfig, base, options.overlay ?? '');
    const resolve: SenderOptions['resolve'] =
      options.resolve ?? (async () => [{ address: '127.0.0.1', family: 4 }]);
    const exporter = new WebhookExporter(
      { ...settings, clock, config },
      sendingHere({ clock, random: () => 0.5, resolve }),
    );
    end = () => exporter.shutdown(AbortSignal.timeout(5000));
    const [slug, tenant] = await organizationOf(place);
    const service = new WebhookService({ slug, tenant, place, exporter, settings });
    await exporter.start(service.host());
    return service;
  }

  /** @param again a location whose control store is closed and reopened here */
  static async openPlace(t: Test, again?: WebhookPlace): Promise<WebhookPlace> {
    const { directory, clock } = again ?? { directory: testFolder(t), clock: new TickingClock(t) };
    await again?.control.close();
    return { directory, clock, control: await openControlStore(t, { directory, clock }) };
  }

  get control(): SqlControlStore {
    return this.place.control;
  }

  get clock(): TickingClock {
    return this.place.clock;
  }

  /** The webhook targets published to URL checks. */
  async allowedTargets(): Promise<readonly string[]> {
    const published = await this.control.settings.all(this.clock.now());
    return published.flatMap(({ targets }) => targets?.allow_cidrs ?? []);
  }

  /** The host of the exporter. */
  host(): Host {
    return {
      ...this.statuses.host,
      extension: (_id, isWanted) => {
        const control: unknown = this.control;
        if (!isWanted(control)) throw new Error('the control plane is not what was wanted');
        return control;
      },
      secretBox: (directory) => this.secrets.at(directory),
    };
  }

  async addEndpoint(url: string, eventTypes: readonly string[] = ['*']): Promise<TestEndpoint> {
    const id = uuidV7(this.clock.now() / 1000);
    const secret = generateSecret();
    await this.control.endpoints.create(this.slug, {
      id,
      url,
      name: 'a receiver',
      event_types: eventTypes,
      is_active: true,
      consecutive_failures: 0,
      created_at: this.clock.now(),
      sealed_secret: await this.#seal(id, secret),
    });
    return { id, secret };
  }

  /** @returns the new secret */
  async rotate(id: string): Promise<string> {
    const secret = generateSecret();
    await this.control.endpoints.rotateSecret(this.slug, id, await this.#seal(id, secret));
    return secret;
  }

  /** Passes events to the exporter like the outbox. */
  async emit(
    count = 1,
    type: EventType = 'trace.failed',
    data: object = {},
  ): Promise<readonly EventRecord[]> {
    const items = Array.from({ length: count }, (_, n) => this.event(type, { n, ...data }));
    await this.take(items);
    return items;
  }

  async take(items: readonly EventRecord[]): Promise<Receipt | undefined> {
    return await this.exporter.inputs.events?.consume(
      { tenant: this.tenant, items: [...items] },
      { receivedAt: this.clock.now() },
    );
  }

  event(type: EventType, data: object): EventRecord {
    const timestamp = this.clock.now();
    const event = { id: uuidV7(timestamp / 1000), type, timestamp };
    return { ...event, organization_id: null, endpoint_id: null, body: envelope(event, data) };
  }

  /** Newest first. */
  async deliveries(endpointId: string): Promise<readonly DeliveryDetail[]> {
    const page = await this.control.deliveries.list(this.slug, endpointId, { offset: 0, limit: 10_000 });
    const found: DeliveryDetail[] = [];
    for (const { id } of page?.items ?? []) {
      const delivery = await this.control.deliveries.read(this.slug, id);
      if (delivery) found.push(delivery);
    }
    return found;
  }

  /** The only delivery to an endpoint, once that many attempts have ended. */
  async attempted(endpointId: string, attempts = 1): Promise<DeliveryDetail> {
    let last: DeliveryDetail | undefined;
    await until(`${attempts} attempts have ended`, async () => {
      [last] = await this.deliveries(endpointId);
      return last?.attempts.filter(({ duration_ms }) => duration_ms !== null).length === attempts;
    });
    if (!last) throw new Error('there is no delivery');
    return last;
  }

  /** Waits until no delivery to an endpoint is pending. */
  async settled(endpointId: string, count: number): Promise<readonly DeliveryDetail[]> {
    let last: readonly DeliveryDetail[] = [];
    await until(`${count} deliveries are done`, async () => {
      last = await this.deliveries(endpointId);
      return last.length === count && last.every(({ status }) => status !== 'pending');
    });
    return last;
  }

  async #seal(id: string, secret: string): Promise<string> {
    return await this.secrets.at(this.control.directory).seal(secret, sealOwner(id));
  }
}

async function organizationOf({ control, clock }: WebhookPlace): Promise<[slug: string, tenant: string]> {
  const slug = 'acme';
  const [member] = (await control.organizations.listMembers(slug)) ?? [];
  if (member) return [slug, member.user_id];
  const tenant = randomUUID();
  await control.organizations.create({ id: randomUUID(), slug, name: 'Acme', created_at: 0 });
  await control.accounts.createUser({
    id: tenant,
    email: 'somebody@example.org',
    name: 'somebody',
    monthly_event_limit: null,
    stored_bytes_limit: null,
    disabled: false,
    created_at: clock.now(),
  });
  await control.organizations.putMember(slug, tenant, 'admin');
  return [slug, tenant];
}
