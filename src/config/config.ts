import type { Factory } from '../component/factory.js';
import type { Kind } from '../component/component-id.js';
import type { SmtpSettings } from '../component/smtp.js';
import type { Position, Problem } from './config-error.js';
import type { MemorySetting } from './memory.js';
import type { AuthConfig, SecretsConfig, ServiceConfig } from './file-schema.js';

/** A component as the configuration has it. */
export interface ConfiguredComponent<F extends Factory = Factory> {
  readonly kind: Kind;
  /** As written: `trace_batch`, `storage/archive`. */
  readonly id: string;
  readonly factory: F;
  /** Position in the file. */
  readonly position: Position;
  /** Checked against the factory's schema, defaults filled in. */
  readonly config: Record<string, unknown>;
  /** Whether its section is free of errors; otherwise `config` must not be read. */
  readonly isValid: boolean;
}

/** The factory type of each kind. */
export type FactoryOf<K extends Kind> = Extract<Factory, { kind: K }>;

/** The components of each kind by id, in the order they are written. */
type ConfiguredComponents = {
  readonly [K in Kind]: ReadonlyMap<string, ConfiguredComponent<FactoryOf<K>>>;
};

/** Finds factories: built-in ones and those of plugins. */
export interface Factories {
  find<K extends Kind>(kind: K, type: string): FactoryOf<K> | undefined;
  types(kind: Kind): readonly string[];
}

/** A configuration in which every section was checked separately. The plan checks references between sections. */
export interface Config {
  readonly auth: AuthConfig;
  /** The section `secrets`. */
  readonly secretKeeping: SecretsConfig;
  /** The mail server; null if not configured. */
  readonly smtp: SmtpSettings | null;
  readonly service: ServiceConfig;
  readonly components: ConfiguredComponents;
  /** Values that must never be shown. */
  readonly secrets: readonly string[];
  /** The effective configuration in YAML, without secrets. */
  print(): string;
  /** Settings that bound memory. */
  readonly memory: readonly MemorySetting[];
  /** The place of a path in the files. */
  locate(path: readonly string[]): Position;
  /** Whether something is written at a path. */
  has(path: readonly string[]): boolean;
}

/** A configuration, usable if no problem is an error. */
export interface CheckedConfig {
  /** The part that can be planned despite problems; undefined if the service section is too broken. */
  readonly config: Config | undefined;
  readonly problems: readonly Problem[];
}
