import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** Fields that are not kept: secrets, and what belongs to one rendering of a form. */
const droppedFields: ReadonlySet<string> = new Set([
  'csrf',
  'idempotency_key',
  'password',
  'client_secret',
  'current',
  'next',
  'token',
]);

/** Whether a field is kept over a sign-in. Password fields are not. */
export function isKeptField(name: string): boolean {
  return !droppedFields.has(name);
}

const context = createContext<URLSearchParams | undefined>(undefined);

/** Gives the controls of a form the fields that the person entered before a sign-in. */
export const KeptFieldsProvider = context.Provider;

/** The fields that the person entered into the form around this control before a sign-in; undefined for most forms. */
export function useKeptFields(): URLSearchParams | undefined {
  return useContext(context);
}

/** The value of a text control: the text that was entered before a sign-in, else `value`. */
export function useKeptValue(name: string, value: string | undefined): string | undefined {
  return useKeptFields()?.get(name) ?? value;
}

/** Checks that the secret in a field is not kept over a sign-in. @throws {Error} if it is. */
export function requireSecretField(name: string): void {
  if (isKeptField(name)) throw new Error(`the secret in the field ${name} would be kept over a sign-in`);
}
