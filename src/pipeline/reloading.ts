import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.js';
import type { Built } from './build.js';
import type { Listeners } from './listeners.js';
import { nameOf, type Node } from './node.js';

/** The result of a reload, by names of components, listeners and sections. */
export interface ReloadReport {
  /** Those with new secrets or certificates. */
  readonly reloaded: readonly string[];
  /** Those that keep the old ones. */
  readonly failed: readonly { readonly name: string; readonly reason: string }[];
  /** Those with a changed configuration that only a restart applies. */
  readonly needRestart: readonly string[];
}

/** Sections that cannot be reloaded. */
const FIXED = ['auth', 'secretKeeping', 'service'] as const;

/** Applies changed secrets and certificates to running components. */
export class Reloading {
  readonly #nodes: readonly Node[];
  readonly #listeners: Pick<Listeners, 'reloadTls'>;
  readonly #start: Config;
  #last: Config;
  /** The configuration of each component. */
  readonly #taken = new Map<Node, unknown>();

  constructor(built: Built, listeners: Pick<Listeners, 'reloadTls'>, config: Config) {
    this.#nodes = [...built.receivers, ...built.processors.flat(), ...built.exporters, ...built.extensions];
    this.#listeners = listeners;
    this.#start = config;
    this.#last = config;
    for (const node of this.#nodes) this.#taken.set(node, configOf(config, node));
  }

  /** Never rejects. */
  async reload(config = this.#last): Promise<ReloadReport> {
    this.#last = config;
    const reloaded: string[] = [];
    const failed: { name: string; reason: string }[] = [];
    const attempt = async (name: string, work: () => Promise<boolean>): Promise<boolean | undefined> => {
      try {
        const hasChanged = await work();
        if (hasChanged) reloaded.push(name);
        return hasChanged;
      } catch (error) {
        failed.push({ name, reason: error instanceof Error ? error.message : String(error) });
        return undefined;
      }
    };
    const needRestart: string[] = FIXED.filter(
      (key) => !isDeepStrictEqual(config[key], this.#start[key]),
    ).map((key) => (key === 'secretKeeping' ? 'secrets' : key));
    await this.#listeners.reloadTls(async (name, reload) => {
      await attempt(name, reload);
    });
    for (const node of this.#nodes) {
      const now = configOf(config, node);
      // A processor has one instance for each of its pipelines.
      const name = nameOf({ kind: node.kind, id: node.id });
      const result = await attempt(
        name,
        async () => (await node.component.reload?.({ config: now, smtp: config.smtp })) ?? false,
      );
      if (result === true) this.#taken.set(node, now);
      else if (result === false && !isDeepStrictEqual(now, this.#taken.get(node))) needRestart.push(name);
    }
    return { reloaded, failed, needRestart: [...new Set(needRestart)] };
  }
}

function configOf(config: Config, { kind, id }: Node): unknown {
  return config.components[kind].get(id)?.config;
}
