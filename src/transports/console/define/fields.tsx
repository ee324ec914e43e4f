import type { ComponentChildren } from 'preact';
import type { FormErrors } from '../form-errors.ts';
import { Checkbox, Checkboxes, type Choice, Choices } from '../components/choices.tsx';
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

type Hint = ComponentChildren;

const readText = (form: URLSearchParams, name: string) => (form.get(name) ?? '').trim();

type TextOptions = Omit<Given<typeof Field>, 'label' | 'hint'>;

/** A line of text. */
export function textField(label: string, hint?: Hint, given: TextOptions = {}): FieldDefinition<string> {
  return {
    read: readText,
    show: ({ name, value, errors }) => (
      <Field {...given} label={label} hint={hint} name={name} value={value} error={errors[name]} />
    ),
  };
}

/** The handle of another agent. */
export function handleField(label: string, hint: Hint): FieldDefinition<string> {
  return textField(label, hint, { maxlength: 80, plain: true, required: true });
}

/** An address on the web. */
export function urlField(label: string, hint: Hint): FieldDefinition<string> {
  return textField(label, hint, { maxlength: 2_048, plain: true, required: true });
}

/** A password. It is read as it is, and never shown again. */
export function secretField(label: string, hint: Hint, given: TextOptions): FieldDefinition<string> {
  return {
    read: (form, name) => form.get(name) ?? '',
    show: ({ name, errors }) => (
      <Field {...given} type="password" label={label} hint={hint} name={name} error={errors[name]} required />
    ),
  };
}

/**
 * Text in several lines. Browsers send line breaks as CRLF (HTML standard, section 4.10.22).
 * @param isVerbatim whether spaces around the text are kept
 */
export function linesField(
  label: string,
  hint: Hint,
  { isVerbatim = false, ...given }: Omit<Given<typeof TextArea>, 'label' | 'hint'> & { isVerbatim?: boolean },
): FieldDefinition<string> {
  return {
    read: (form, name) =>
      (isVerbatim ? (form.get(name) ?? '') : readText(form, name)).replaceAll('\r\n', '\n'),
    show: ({ name, value, errors }) => (
      <TextArea {...given} label={label} hint={hint} name={name} value={value} error={errors[name]} />
    ),
  };
}

interface ChoiceOptions {
  hint?: Hint;
  /** The text for any error. */
  error?: string;
}

/** One of several values in a select box. */
export function selectField(
  label: string,
  options: Parameters<typeof Select>[0]['options'],
  { hint, error }: ChoiceOptions = {},
): FieldDefinition<string> {
  return {
    read: readText,
    show: ({ name, value = '', errors }) => (
      <Select {...{ label, hint, options, name, value }} error={errors[name] && (error ?? errors[name])} />
    ),
  };
}

/** One of several values with explanations. */
export function choicesField(
  legend: string,
  options: readonly Choice[],
  { hint, error }: ChoiceOptions = {},
): FieldDefinition<string> {
  return {
    read: readText,
    show: ({ name, value, errors }) => (
      <Choices
        {...{ legend, hint, choices: options, name, value }}
        error={errors[name] && (error ?? errors[name])}
      />
    ),
  };
}

/** Yes or no. */
export function checkboxField(label: string, hint: Hint): FieldDefinition<boolean> {
  return {
    read: (form, name) => form.get(name) === 'on',
    show: ({ name, value }) => <Checkbox label={label} hint={hint} name={name} checked={value === true} />,
  };
}

/** Any number of values. @param given `class`: of the element around them */
export function checkboxesField(
  legend: string,
  options: readonly Choice[],
  { hint, error, ...given }: ChoiceOptions & { class?: string } = {},
): FieldDefinition<readonly string[]> {
  return {
    read: (form, name) => [...new Set(form.getAll(name))],
    show: ({ name, value = [], errors }) => (
      <Checkboxes
        {...{ ...given, legend, hint, choices: options, name, value }}
        error={errors[name] && (error ?? errors[name])}
      />
    ),
  };
}

/** A value that the form sends back as it is. */
export const hiddenField: FieldDefinition<string> = {
  read: readText,
  show: ({ name, value }) => <input type="hidden" name={name} value={value} />,
};
