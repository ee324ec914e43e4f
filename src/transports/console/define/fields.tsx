import type { ComponentChildren } from 'preact';
import type { FormErrors } from '../form-errors.ts';
import { Checkbox, Checkboxes, Choices } from '../components/choices.tsx';
import { Field, Select, TextArea } from '../components/field.tsx';

export interface ShownField<T> {
  name: string;
  /** Absent: the form is empty. */
  value: T | undefined;
  errors: FormErrors['fields'];
}

/** A field of a form as data: how it is read and how it is shown. */
export interface FieldDefinition<T> {
  read(form: URLSearchParams, name: string): T;
  show(field: ShownField<T>): ComponentChildren;
}

/** The fields of a form by name, in their order on the page. */
export type FieldDefinitions = Readonly<Record<string, FieldDefinition<unknown>>>;

/** What a person enters in the fields. */
export type EnteredIn<F extends FieldDefinitions> = {
  [Name in keyof F]: F[Name] extends FieldDefinition<infer T> ? T : never;
};

/** Reads all fields of a form. */
export function readFields<F extends FieldDefinitions>(fields: F, form: URLSearchParams): EnteredIn<F> {
  const entries = Object.entries(fields).map(([name, field]) => [name, field.read(form, name)]);
  return Object.fromEntries(entries) as EnteredIn<F>;
}

interface FieldsProps {
  fields: FieldDefinitions;
  values: Readonly<Record<string, unknown>>;
  errors: FormErrors['fields'];
}

/** All fields of a form. */
export function Fields({ fields, values, errors }: FieldsProps) {
  return (
    <>{Object.entries(fields).map(([name, field]) => field.show({ name, value: values[name], errors }))}</>
  );
}

/** The properties of a control besides those that each request gives it. */
type Given<Control extends (props: never) => unknown> = Omit<
  Parameters<Control>[0],
  'name' | 'value' | 'error' | 'checked'
>;

const readText = (form: URLSearchParams, name: string) => (form.get(name) ?? '').trim();

/** A line of text. */
export function text(given: Given<typeof Field>): FieldDefinition<string> {
  return {
    read: readText,
    show: ({ name, value, errors }) => <Field {...given} name={name} value={value} error={errors[name]} />,
  };
}

/** A password. It is read as it is, and never shown again. */
export function secret(given: Given<typeof Field>): FieldDefinition<string> {
  return {
    read: (form, name) => form.get(name) ?? '',
    show: ({ name, errors }) => <Field {...given} type="password" name={name} error={errors[name]} />,
  };
}

/**
 * Text in several lines. Browsers send line breaks as CRLF (HTML standard, section 4.10.22).
 * @param isVerbatim whether spaces around the text are kept
 */
export function lines({
  isVerbatim = false,
  ...given
}: Given<typeof TextArea> & { isVerbatim?: boolean }): FieldDefinition<string> {
  return {
    read: (form, name) =>
      (isVerbatim ? (form.get(name) ?? '') : readText(form, name)).replaceAll('\r\n', '\n'),
    show: ({ name, value, errors }) => <TextArea {...given} name={name} value={value} error={errors[name]} />,
  };
}

/** One of several values in a select box. `error`: the text for any error. */
export function select(given: Given<typeof Select> & { error?: string }): FieldDefinition<string> {
  return {
    read: readText,
    show: ({ name, value, errors }) => (
      <Select
        {...given}
        name={name}
        value={value ?? ''}
        error={errors[name] && (given.error ?? errors[name])}
      />
    ),
  };
}

/** One of several values with explanations. `error`: the text for any error. */
export function choices(given: Given<typeof Choices> & { error?: string }): FieldDefinition<string> {
  return {
    read: readText,
    show: ({ name, value, errors }) => (
      <Choices {...given} name={name} value={value} error={errors[name] && (given.error ?? errors[name])} />
    ),
  };
}

/** Yes or no. */
export function checkbox(given: Given<typeof Checkbox>): FieldDefinition<boolean> {
  return {
    read: (form, name) => form.get(name) === 'on',
    show: ({ name, value }) => <Checkbox {...given} name={name} checked={value === true} />,
  };
}

/** Any number of values. `error`: the text for any error. */
export function checkboxes(
  given: Given<typeof Checkboxes> & { error?: string },
): FieldDefinition<readonly string[]> {
  return {
    read: (form, name) => [...new Set(form.getAll(name))],
    show: ({ name, value = [], errors }) => (
      <Checkboxes
        {...given}
        name={name}
        value={value}
        error={errors[name] && (given.error ?? errors[name])}
      />
    ),
  };
}

/** A value that the form sends back as it is. */
export const hidden: FieldDefinition<string> = {
  read: readText,
  show: ({ name, value }) => <input type="hidden" name={name} value={value} />,
};
