// Money is computed in whole cents.
export const priceOf = (price: number, quantity: number): number =>
  (Math.round(price * 100) * quantity) / 100;

export const sumOf = (
  parts: readonly { readonly price: number; readonly quantity: number }[],
): number =>
  parts.reduce((sum, { price, quantity }) => sum + Math.round(price * 100) * quantity, 0) / 100;
