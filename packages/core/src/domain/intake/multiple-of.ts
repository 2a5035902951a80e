interface Decimal {
  digits: bigint;
  exponent: number;
}

/**
 * Whether one number is a multiple of another, as both were written: 0.07 is a multiple of 0.01, although the quotient
 * of the two as binary fractions isn't a whole number.
 */
export function isMultipleOf(value: number, of: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(of)) return value % of === 0;
  const dividend = decimalOf(value);
  const divisor = decimalOf(of);
  const exponent = Math.min(dividend.exponent, divisor.exponent);
  return scaled(dividend, exponent) % scaled(divisor, exponent) === 0n;
}

/** The shortest decimal that reads as this number, which is what JSON kept of it. */
function decimalOf(value: number): Decimal {
  const [mantissa = "", exponent] = value.toExponential().split("e");
  const fraction = mantissa.split(".")[1] ?? "";
  return { digits: BigInt(mantissa.replace(".", "")), exponent: Number(exponent) - fraction.length };
}

const scaled = ({ digits, exponent }: Decimal, to: number): bigint => digits * 10n ** BigInt(exponent - to);
