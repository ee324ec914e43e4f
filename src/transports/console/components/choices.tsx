import type { ComponentChildren } from 'preact';
import { useKeptFields, useKeptValue } from './kept-fields.ts';

export interface Choice {
  value: string;
  title: ComponentChildren;
  /** Explanation. */
  text?: ComponentChildren;
  /** Badges. */
  note?: ComponentChildren;
}

interface ChoicesProps {
  name: string;
  legend: ComponentChildren;
  hint?: ComponentChildren;
  choices: readonly Choice[];
  /** The selected value. */
  value?: string | undefined;
  error?: string | undefined;
}

/** Radio buttons with explanations. */
export function Choices({ name, choices, ...props }: ChoicesProps) {
  const value = useKeptValue(name, props.value);
  return (
    <FieldSet {...props} name={name}>
      {choices.map((choice) => (
        <label class="choice" key={choice.value}>
          <input type="radio" name={name} value={choice.value} checked={choice.value === value} required />
          <span class="choice-text">
            <span class="choice-title">
              {choice.title} {choice.note}
            </span>
            {choice.text !== undefined && <span class="choice-hint">{choice.text}</span>}
          </span>
        </label>
      ))}
    </FieldSet>
  );
}

type FieldSetProps = Pick<ChoicesProps, 'name' | 'legend' | 'hint' | 'error'> & {
  children: ComponentChildren;
};

/** Controls for one field, with legend, hint and error. */
function FieldSet({ name, legend, hint, error, children }: FieldSetProps) {
  return (
    <fieldset
      class={error === undefined ? 'choices' : 'choices invalid'}
      aria-describedby={error && `${name}-error`}
    >
      <legend>{legend}</legend>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {children}
      {error !== undefined && (
        <p class="error" id={`${name}-error`}>
          {error}
        </p>
      )}
    </fieldset>
  );
}

interface CheckboxProps {
  name: string;
  label: ComponentChildren;
  hint?: ComponentChildren;
  /** Default `on`. */
  value?: string;
  checked?: boolean;
}

/** A checkbox. Several with the same name form a list. */
export function Checkbox({ name, label, hint, value = 'on', checked = false }: CheckboxProps) {
  const kept = useKeptFields();
  return (
    <label class="choice">
      <input type="checkbox" name={name} value={value} checked={kept ? kept.has(name, value) : checked} />
      <span class="choice-text">
        <span class="choice-title">{label}</span>
        {hint !== undefined && <span class="choice-hint">{hint}</span>}
      </span>
    </label>
  );
}

interface CheckboxesProps extends Omit<ChoicesProps, 'value'> {
  /** The selected values. */
  value: readonly string[];
  /** Class of the element around the checkboxes. Absent: there is none. */
  class?: string;
}

/** Checkboxes for any number of values. */
export function Checkboxes({ name, choices, value, class: className, ...props }: CheckboxesProps) {
  const boxes = choices.map((choice) => (
    <Checkbox
      name={name}
      value={choice.value}
      label={choice.title}
      hint={choice.text}
      checked={value.includes(choice.value)}
      key={choice.value}
    />
  ));
  return (
    <FieldSet {...props} name={name}>
      {className === undefined ? boxes : <div class={className}>{boxes}</div>}
    </FieldSet>
  );
}
