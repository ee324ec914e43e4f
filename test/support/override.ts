/** `target` with some members replaced. Unlike a spread, it keeps getters, such as those of `Repositories`. */
export function override<T extends object>(target: T, changes: Partial<T>): T {
  return Object.create(target, Object.getOwnPropertyDescriptors(changes)) as T;
}
