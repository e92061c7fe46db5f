interface Waiting {
  readonly userId: string;
  readonly bytes: number;
}

/** Bytes that a user may send in one turn; what it does not use stays for its next turn while it waits. */
const QUANTUM = 64 * 1024;

interface Turns<Task> {
  readonly tasks: Task[];
  allowance: number;
  hasTurn: boolean;
}

/** A queue in which users take turns by bytes (deficit round robin: Shreedhar and Varghese, 1995). */
export class FairTasks<Task extends Waiting> {
  /** By user; the first one has its turn. */
  readonly #users = new Map<string, Turns<Task>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(task: Task): void {
    const user = this.#users.get(task.userId);
    if (user === undefined) this.#users.set(task.userId, { tasks: [task], allowance: 0, hasTurn: false });
    else user.tasks.push(task);
    this.#size++;
  }

  next(): Task | undefined {
    for (;;) {
      const [first] = this.#users;
      if (first === undefined) return undefined;
      const [userId, user] = first;
      if (!user.hasTurn) user.allowance += QUANTUM;
      user.hasTurn = true;
      const [task] = user.tasks;
      if (task !== undefined && task.bytes <= user.allowance) {
        user.tasks.shift();
        user.allowance -= task.bytes;
        this.#size--;
        if (user.tasks.length === 0) this.#users.delete(userId);
        return task;
      }
      user.hasTurn = false;
      this.#users.delete(userId);
      this.#users.set(userId, user);
    }
  }

  /** Empties the queue. */
  clear(): readonly Task[] {
    const tasks = [...this.#users.values()].flatMap((user) => user.tasks);
    this.#users.clear();
    this.#size = 0;
    return tasks;
  }
}
