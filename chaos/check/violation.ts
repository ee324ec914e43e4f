/** A violation of a guarantee of the service. `detail` names the object. */
export interface Violation {
  kind:
    | 'unacknowledged'
    | 'lost'
    | 'doubled'
    | 'changed'
    | 'foreign'
    | 'hole'
    | 'out of order'
    | 'repeated after resume'
    | 'not seen'
    | 'not found'
    | 'wrong members'
    | 'wrong receipt'
    | 'wrong unread count'
    | 'wrong signature'
    | 'wrong task'
    | 'lease ended early'
    | 'two holders'
    | 'lost lease wrote'
    | 'handled again'
    | 'not handled'
    | 'owed'
    | 'complaint';
  detail: string;
}

/** Returns the values that occur more than once. */
export function findDuplicates<T>(values: readonly T[]): T[] {
  const seen = new Set<T>();
  return values.filter((value) => seen.size === seen.add(value).size);
}

/** Whether two lists have the same values, in any order. */
export function hasSameValues(one: readonly string[], other: readonly string[]): boolean {
  return one.toSorted().join(' ') === other.toSorted().join(' ');
}
