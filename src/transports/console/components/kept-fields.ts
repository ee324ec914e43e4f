import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { isKeptField } from '../kept-form.ts';

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
