import type { SavedView } from '../../repositories/people/accounts.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { toVisibleLine } from '../../../packages/core/src/domain/visible-text.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';

export type { SavedView };

const maxViews = 20;
const maxNameLength = 40;
const maxQueryLength = 1_000;

/** Returns the filters that a person has saved, in the order of saving. */
export function listSavedViews({ db: { accounts } }: ReadWork, account_id: string): Promise<SavedView[]> {
  return accounts.listViews(account_id);
}

/**
 * Saves filters under a name of one line.
 * @param query of the address of the list
 * @returns the name as it is stored
 * @throws {DomainError} VALIDATION_ERROR: the name is empty, too long or used, or there are 20 views
 */
export async function saveView(
  { db: { accounts } }: SystemWork,
  account_id: string,
  { name, query }: SavedView,
): Promise<string> {
  const line = toVisibleLine(name, maxNameLength + 1);
  const length = Array.from(line).length;
  if (length === 0 || length > maxNameLength)
    throw invalid(`The name of a view has 1 to ${maxNameLength} characters.`);
  if (query === '' || query.length > maxQueryLength) throw invalid('Choose filters first.');
  await accounts.lock(account_id);
  const views = await accounts.listViews(account_id);
  if (views.some((view) => view.name.toLowerCase() === line.toLowerCase()))
    throw invalid('You have a view with this name. Choose another name.');
  if (views.length >= maxViews) throw invalid(`You have ${maxViews} views. Remove one first.`);
  await accounts.setViews(account_id, JSON.stringify([...views, { name: line, query }]));
  return line;
}

/** Removes a saved view, if there is one with this name. */
export async function removeView({ db: { accounts } }: SystemWork, account_id: string, name: string) {
  await accounts.lock(account_id);
  const views = await accounts.listViews(account_id);
  await accounts.setViews(account_id, JSON.stringify(views.filter((view) => view.name !== name)));
}

const invalid = (message: string) => new DomainError('VALIDATION_ERROR', message);
