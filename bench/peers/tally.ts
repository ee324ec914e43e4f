/** Faults of the messages that one server delivered. */
export interface Faults {
  lost: number;
  duplicated: number;
  reordered: number;
}

/** Counts what arrives on the connections that receive. */
export interface Tally {
  /** Adds a message that these connections must receive. */
  expect(number: number, connections: readonly number[]): void;
  /** Adds a message that a connection received. Returns how many connections have it by now. */
  receive(connection: number, number: number): number;
  /** Expected messages that have not arrived, counted for each connection. */
  missing(): number;
  readFaults(): Faults;
}

/**
 * Messages of one sender must arrive in the order of their numbers. Messages to a group must arrive in one order at every member,
 * whatever their numbers.
 */
export function createTally(order: 'by number' | 'the same everywhere'): Tally {
  const received = new Map<number, number[]>();
  const seen = new Map<number, Set<number>>();
  const arrived = new Map<number, number>();
  let expected = 0;
  let accepted = 0;
  let duplicated = 0;

  function readLists(): readonly (readonly number[])[] {
    return [...received.values()];
  }

  return {
    expect(_number, connections) {
      expected += connections.length;
    },
    receive(connection, number) {
      const own = seen.get(connection) ?? new Set();
      const list = received.get(connection) ?? [];
      seen.set(connection, own);
      received.set(connection, list);
      if (own.has(number)) {
        duplicated += 1;
      } else {
        own.add(number);
        list.push(number);
        accepted += 1;
        arrived.set(number, (arrived.get(number) ?? 0) + 1);
      }
      return arrived.get(number) ?? 0;
    },
    missing: () => Math.max(0, expected - accepted),
    readFaults() {
      const lists = readLists();
      const reordered =
        order === 'by number'
          ? lists.reduce((total, list) => total + countDescents(list), 0)
          : countDifferences(lists);
      return { lost: Math.max(0, expected - accepted), duplicated, reordered };
    },
  };
}

/** How often a number follows a greater one. */
function countDescents(list: readonly number[]): number {
  return list.filter((number, at) => number < (list[at - 1] ?? number)).length;
}

/** How many lists have another order than the first one, for the numbers that both have. */
function countDifferences(lists: readonly (readonly number[])[]): number {
  const [first = [], ...others] = lists;
  const place = new Map(first.map((number, at) => [number, at]));
  return others.filter((list) => {
    const places = list.flatMap((number) => place.get(number) ?? []);
    return countDescents(places) > 0;
  }).length;
}

export function addFaults(one: Faults, other: Faults): Faults {
  return {
    lost: one.lost + other.lost,
    duplicated: one.duplicated + other.duplicated,
    reordered: one.reordered + other.reordered,
  };
}
