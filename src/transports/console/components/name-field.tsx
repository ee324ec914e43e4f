import { Field } from './field.tsx';

interface NameFieldProps {
  /** Name of the field in the form, and of its error. */
  name: string;
  label: string;
  /** What follows from the name, and that it stays. */
  permanenceHint: string;
  /** Stands before what is entered, as part of it. */
  prefix?: string;
  value?: string | undefined;
  error?: string | undefined;
  autocomplete?: string;
}

/** A name that becomes a part of handles (contract, section 2). */
export function NameField({ permanenceHint, ...field }: NameFieldProps) {
  return (
    <Field
      {...field}
      hint={`Lower-case letters, digits, - and _. ${permanenceHint}`}
      maxlength={32}
      plain
      required
    />
  );
}
