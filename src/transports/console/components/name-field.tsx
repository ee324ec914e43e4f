import { Field } from './field.tsx';

interface NameFieldProps {
  /** Name of the form field. */
  name: string;
  label: string;
  /** Says that the name cannot be changed. */
  permanenceHint: string;
  /** Fixed text before the value. */
  prefix?: string;
  value?: string | undefined;
  error?: string | undefined;
  autocomplete?: string;
}

/** A text input for a part of a handle. */
export function NameField({ permanenceHint, ...field }: NameFieldProps) {
  return (
    <Field
      {...field}
      hint={`Lowercase letters, digits, - and _. ${permanenceHint}`}
      maxlength={32}
      plain
      required
    />
  );
}
