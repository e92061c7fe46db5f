import type { Component } from '../component/component.js';
import type { Consumer } from '../component/consumer.js';
import type { Settings } from '../component/factory.js';
import type { Host } from '../component/host.js';
import type { FactoryOf } from '../config/config.js';
import type { Batches, Signal } from '../signal/batch.js';

/** A component of a template with the configuration of one instance of it. */
export interface ConfiguredPart<F> {
  readonly factory: F;
  readonly config: Record<string, unknown>;
}

export type ProcessorPart = ConfiguredPart<FactoryOf<'processor'>>;
type AnySettings = Settings<Record<string, unknown>>;

/** The settings of a component inside a template. */
export function settingsOf(part: ConfiguredPart<{ readonly type: string }>, outer: AnySettings): AnySettings {
  const { type } = part.factory;
  return {
    ...outer,
    id: `${outer.id}.${type}`,
    config: part.config,
    logger: outer.logger.child({ part: type }),
  };
}

/** Processors one after the other. @returns the way in, and the components in the order in which data flows */
export function chainProcessors(
  parts: readonly ProcessorPart[],
  signal: Signal,
  next: Consumer<Batches[Signal]>,
  outer: AnySettings,
): { readonly entry: Consumer<Batches[Signal]>; readonly components: readonly Component[] } {
  const components: Component[] = [];
  let entry = next;
  for (const part of parts.toReversed()) {
    const create = part.factory.create[signal];
    if (!create) throw new Error(`processor "${part.factory.type}" is not for ${signal}`);
    const processor = create({ ...settingsOf(part, outer), next: entry });
    components.unshift(processor);
    entry = processor;
  }
  return { entry, components };
}

/** Several components that live as one: they start against the flow and stop along it. */
export class ChainLife implements Component {
  readonly #components: readonly Component[];

  /** @param components in the order in which data flows */
  constructor(components: readonly Component[]) {
    this.#components = components;
  }

  async start(host: Host): Promise<void> {
    for (const component of this.#components.toReversed()) await component.start?.(host);
  }

  /** Shuts all of them down, even if some fail. @throws the first error */
  async shutdown(deadline: AbortSignal): Promise<void> {
    const errors: unknown[] = [];
    for (const component of this.#components) {
      try {
        await component.shutdown?.(deadline);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
