/** Something that a service of this kind must not do, with what names it. */
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
    | 'forgotten'
    | 'owed'
    | 'complaint';
  detail: string;
}

/** The values that occur more than once. */
export function findDuplicates<T>(values: readonly T[]): T[] {
  const known = new Set<T>();
  return values.filter((value) => known.size === known.add(value).size);
}
