/** A version of a prompt, as far as it is in memory. */
export interface KnownPrompt {
  readonly tenant: number;
  /** What telemetry rows carry instead of the id: unique over all users. */
  readonly number: number;
  readonly version: number;
  /** Of its texts, about: reads go by it to bound what they hold. */
  readonly bytes: number;
}

/** Which prompts and versions every user has. */
export class PromptRegistry {
  /** By tenant, name and version. */
  readonly #tenants = new Map<number, Map<string, Map<number, KnownPrompt>>>();
  readonly #numbers = new Map<number, KnownPrompt>();
  #lastNumber = 0;

  /** A number that no prompt has. */
  get nextNumber(): number {
    return this.#lastNumber + 1;
  }

  /** Numbers up to this one are not given any more. */
  skipTo(number: number): void {
    this.#lastNumber = Math.max(this.#lastNumber, number);
  }

  add(name: string, prompt: KnownPrompt): void {
    this.#lastNumber = Math.max(this.#lastNumber, prompt.number);
    this.#numbers.set(prompt.number, prompt);
    const names = entry(this.#tenants, prompt.tenant, () => new Map<string, Map<number, KnownPrompt>>());
    entry(names, name, () => new Map<number, KnownPrompt>()).set(prompt.version, prompt);
  }

  find(tenant: number, name: string, version: number): KnownPrompt | undefined {
    return this.#tenants.get(tenant)?.get(name)?.get(version);
  }

  byNumber(number: number): KnownPrompt | undefined {
    return this.#numbers.get(number);
  }

  /** The versions of a prompt, the newest first. */
  versions(tenant: number, name: string): readonly KnownPrompt[] {
    return newestFirst(this.#tenants.get(tenant)?.get(name)?.values() ?? []);
  }

  /** All of a tenant, by name in the order of its characters, then the newest version first. */
  all(tenant: number): readonly KnownPrompt[] {
    const names = [...(this.#tenants.get(tenant) ?? [])].map(([name, versions]) => ({
      key: Buffer.from(name),
      versions,
    }));
    names.sort((a, b) => Buffer.compare(a.key, b.key));
    return names.flatMap(({ versions }) => newestFirst(versions.values()));
  }
}

function newestFirst(versions: Iterable<KnownPrompt>): KnownPrompt[] {
  return [...versions].sort((a, b) => b.version - a.version);
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
