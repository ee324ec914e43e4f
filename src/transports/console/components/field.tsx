import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { requireSecretField, useKeptValue } from './kept-fields.ts';

interface LabelledProps {
  /** Name of the form field. */
  name: string;
  label: string;
  hint?: ComponentChildren;
  /** Error of the entered value. */
  error?: string | undefined;
}

interface FieldProps extends LabelledProps {
  type?: 'text' | 'password';
  value?: string | undefined;
  /** The HTML `autocomplete` value. */
  autocomplete?: string;
  required?: boolean;
  minlength?: number;
  maxlength?: number;
  /** Turns off capitalization and spell checking, for names and handles. */
  plain?: boolean;
  /** Fixed text before the value. */
  prefix?: string;
  autofocus?: boolean;
}

/** A text input with label, hint and error. */
export function Field(props: FieldProps) {
  const { type, name, autocomplete = 'off', plain = false, prefix } = props;
  if (type === 'password') requireSecretField(name);
  const value = useKeptValue(name, props.value);
  const id = useId();
  const input = (
    <input
      id={id}
      name={name}
      {...(type === 'password' ? { type } : { type: 'text' })}
      value={value}
      autocomplete={autocomplete}
      required={props.required}
      minLength={props.minlength}
      maxLength={props.maxlength}
      autofocus={props.autofocus}
      {...(plain && { autocapitalize: 'none', autocorrect: 'off', spellcheck: false })}
      {...ariaAttributes(props, id)}
    />
  );
  return (
    <LabelledField {...props} id={id}>
      {prefix === undefined ? (
        input
      ) : (
        <span class="prefixed">
          <span class="prefix">{prefix}</span>
          {input}
        </span>
      )}
    </LabelledField>
  );
}

interface TextAreaProps extends LabelledProps {
  value?: string | undefined;
  rows?: number;
  maxlength?: number;
  placeholder?: string;
  /** Monospaced text. */
  code?: boolean;
  /** An id to which links lead. Browsers give it the focus then. */
  id?: string;
}

/** A text area with label, hint and error. */
export function TextArea(props: TextAreaProps) {
  const { name, rows = 4, maxlength, code = false } = props;
  const value = useKeptValue(name, props.value) ?? '';
  const ownId = useId();
  const { id = ownId } = props;
  return (
    <LabelledField {...props} id={id}>
      <textarea
        id={id}
        name={name}
        rows={rows}
        maxLength={maxlength}
        placeholder={props.placeholder}
        class={code ? 'code' : undefined}
        {...ariaAttributes(props, id)}
      >
        {/* The first newline after the tag is not part of the text (HTML, section 13.1.2.5). */}
        {value.startsWith('\n') ? `\n${value}` : value}
      </textarea>
    </LabelledField>
  );
}

interface SelectProps extends LabelledProps {
  value?: string | undefined;
  options: readonly { value: string; text: string }[];
}

/** A select box. For options that need an explanation use Choices. */
export function Select(props: SelectProps) {
  const { name, options } = props;
  const value = useKeptValue(name, props.value);
  const id = useId();
  return (
    <LabelledField {...props} id={id}>
      <select id={id} name={name} {...ariaAttributes(props, id)}>
        {options.map((option) => (
          <option value={option.value} selected={option.value === value} key={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </LabelledField>
  );
}

function LabelledField({
  id,
  label,
  hint,
  error,
  children,
}: LabelledProps & { id: string; children: ComponentChildren }) {
  return (
    <div class={error === undefined ? 'field' : 'field invalid'}>
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children}
      {error !== undefined && (
        <p class="error" id={`${id}-error`}>
          {errorSentence(label, error)}
        </p>
      )}
    </div>
  );
}

function ariaAttributes({ hint, error }: LabelledProps, id: string) {
  const ids = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean);
  return {
    ...(ids.length > 0 && { 'aria-describedby': ids.join(' ') }),
    ...(error !== undefined && { 'aria-invalid': 'true' as const }),
  };
}

/** An error as a sentence. Messages in lower case, such as `must have …`, follow the label. */
export function errorSentence(label: string, error: string): string {
  const sentence = /^[a-z]/.test(error) ? `${label} ${error}` : error;
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}
